//! `NSError`: a domain, a code and a text.

use super::Text;
use crate::objc::abi::ErrorSlot;
use crate::objc::class::{Class, Methods, class, methods};
use crate::objc::object::{Body, Id, Strong};

class!(NS_ERROR, NS_ERROR_META, "NSError", None, declare);

/// Who an error comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::objc) enum Domain {
    Capture,
    CommandBuffer,
    Library,
    Pipeline,
    ResidencySet,
}

impl Domain {
    const fn name(self) -> &'static str {
        match self {
            Self::Capture => "MTLCaptureErrorDomain",
            Self::CommandBuffer => "MTLCommandBufferErrorDomain",
            Self::Library => "MTLLibraryErrorDomain",
            Self::Pipeline => "MTLComputePipelineErrorDomain",
            Self::ResidencySet => "MTLResidencySetErrorDomain",
        }
    }
}

/// An error.
#[derive(Clone, Debug)]
pub(in crate::objc) struct Failure {
    pub(in crate::objc) domain: Domain,
    pub(in crate::objc) code: isize,
    pub(in crate::objc) text: String,
}

impl Body for Failure {
    fn class() -> &'static Class {
        &NS_ERROR
    }
}

/// Hands an error to the caller, who may not want it.
pub(in crate::objc) fn set_error(slot: ErrorSlot, failure: Failure) {
    if !slot.0.is_null() {
        let error = Strong::new(failure).autorelease();
        // SAFETY: null, or where the caller wants the error.
        unsafe { slot.0.write(error) };
    }
}

fn declare(table: &mut Methods) {
    methods! { table, Failure;
        c"localizedDescription" = |error| -> Id {
            Strong::new(Text::new(&*error.text)).autorelease()
        }
        c"domain" = |error| -> Id { Strong::new(Text::new(error.domain.name())).autorelease() }
        c"code" = |error| -> isize { error.code }
    }
}
