//! Residency sets.

use crate::layer::{device, expect_misuse, floats, test};
use metal_sim::objc::{Rule, Settings};
use objc2_metal::{
    MTLCommandQueue as _, MTLDevice as _, MTLResidencySet as _, MTLResidencySetDescriptor,
};

#[test]
fn changes_take_effect_at_the_commit() {
    test(Settings::default(), || {
        let device = device();
        let buffers = [floats(&device, &[0.0; 4]), floats(&device, &[0.0; 8])];
        let descriptor = MTLResidencySetDescriptor::new();
        let set = device.newResidencySetWithDescriptor_error(&descriptor).unwrap();
        for buffer in &buffers {
            set.addAllocation(buffer.as_ref());
        }
        assert_eq!((set.allocationCount(), set.allocatedSize()), (2, 0));
        set.requestResidency();
        expect_misuse(Rule::Residency, "changes that were not committed");
        set.commit();
        set.requestResidency();
        assert_eq!(set.allocatedSize(), 48);
        set.removeAllocation(buffers[0].as_ref());
        set.commit();
        assert!(!set.containsAllocation(buffers[0].as_ref()));
        assert_eq!((set.allocationCount(), set.allocatedSize()), (1, 32));
        let queue = device.newCommandQueue().unwrap();
        queue.addResidencySet(&set);
        queue.removeResidencySet(&set);
        set.endResidency();
    });
}
