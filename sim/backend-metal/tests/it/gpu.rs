//! GPUs to run on. What new ones are like is the process's to say, and tests run side by side.

use std::sync::{Mutex, PoisonError};

use metal_sim::objc::{self, Settings};
use metal_sim::{Mode, Profile};
use minfer_backend_metal::{Metal, MetalOptions};
use minfer_plan::DeviceError;

/// What opening a device on a simulated GPU with these settings gives.
pub fn try_open(settings: Settings, options: MetalOptions) -> Result<Metal, DeviceError> {
    static ONE: Mutex<()> = Mutex::new(());
    let one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    objc::configure(settings);
    let opened = Metal::new(options);
    drop(one);
    opened
}

/// A device on a simulated GPU with these settings.
pub fn open_with(settings: Settings, options: MetalOptions) -> Metal {
    try_open(settings, options).unwrap()
}

/// A device on a simulated GPU whose kernels are not watched.
pub fn open(profile: Profile, options: MetalOptions) -> Metal {
    let settings = Settings { mode: Mode::Fast, workers: 2, profile, ..Settings::default() };
    open_with(settings, options)
}
