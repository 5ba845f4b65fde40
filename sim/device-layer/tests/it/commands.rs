//! Command buffers: order, handlers, events, and what may run at once.

use crate::layer::{
    bind, commands, device, dispatch, encode, encode_concurrent, expect_misuse, finish, floats,
    pipeline, test, values,
};
use block2::RcBlock;
use metal_sim::objc::{Rule, Settings};
use objc2::runtime::ProtocolObject;
use objc2_foundation::NSString;
use objc2_metal::{
    MTLBarrierScope, MTLCommandBuffer, MTLCommandBufferDescriptor, MTLCommandBufferStatus,
    MTLCommandQueue as _, MTLComputeCommandEncoder as _, MTLDevice as _, MTLSharedEvent as _,
};
use std::ptr::NonNull;
use std::sync::mpsc::channel;
use std::time::Duration;

#[test]
fn command_buffers_of_a_queue_run_in_the_order_of_their_commits() {
    test(Settings::default(), || {
        let device = device();
        let queue = device.newCommandQueue().unwrap();
        let y = floats(&device, &[0.0; 32]);
        let increment = pipeline(&device, "increment");
        let all: Vec<_> = (0..4).map(|_| queue.commandBuffer().unwrap()).collect();
        for commands in &all {
            encode(commands, |encoder| {
                bind(encoder, &y, 0, 0);
                dispatch(encoder, &increment, 32);
            });
            commands.commit();
        }
        all[3].waitUntilCompleted();
        assert_eq!(values(&y), [4.0; 32]);
        for commands in &all {
            assert_eq!(commands.status(), MTLCommandBufferStatus::Completed);
            assert!(commands.GPUStartTime() <= commands.GPUEndTime());
        }
        assert!(all[0].GPUEndTime() <= all[1].GPUStartTime());
    });
}

#[test]
fn a_handler_gets_its_command_buffer_on_another_thread() {
    test(Settings::default(), || {
        let device = device();
        let commands = commands(&device);
        let (send, receive) = channel();
        let own = std::ptr::from_ref(&*commands).addr();
        let handler = RcBlock::new(move |buffer: NonNull<ProtocolObject<dyn MTLCommandBuffer>>| {
            // SAFETY: the command buffer lives while its handlers run.
            let status = unsafe { buffer.as_ref() }.status();
            let same = buffer.as_ptr().addr() == own;
            send.send((same, status, std::thread::current().id())).unwrap();
        });
        // SAFETY: the handler's captures may be used on another thread.
        unsafe { commands.addCompletedHandler(RcBlock::as_ptr(&handler)) };
        assert_eq!(commands.status(), MTLCommandBufferStatus::NotEnqueued);
        finish(&commands).unwrap();
        // It was called before the wait was over.
        let (same, status, thread) = receive.try_recv().unwrap();
        assert!(same && status == MTLCommandBufferStatus::Completed);
        assert_ne!(thread, std::thread::current().id());
    });
}

#[test]
fn a_handler_that_panics_keeps_nobody_waiting() {
    test(Settings::default(), || {
        let device = device();
        let queue = device.newCommandQueue().unwrap();
        let (first, second) = (queue.commandBuffer().unwrap(), queue.commandBuffer().unwrap());
        let handler = RcBlock::new(|_: NonNull<ProtocolObject<dyn MTLCommandBuffer>>| {
            std::panic::resume_unwind(Box::new("on purpose"));
        });
        // SAFETY: the handler captures nothing.
        unsafe { first.addCompletedHandler(RcBlock::as_ptr(&handler)) };
        finish(&first).unwrap();
        expect_misuse(Rule::CommandBuffer, "a handler of a command buffer panicked");
        finish(&second).unwrap();
    });
}

#[test]
fn a_buffer_that_nobody_retains_must_outlive_its_commands() {
    test(Settings::default(), || {
        let device = device();
        let queue = device.newCommandQueue().unwrap();
        let increment = pipeline(&device, "increment");
        for retains in [true, false] {
            let descriptor = MTLCommandBufferDescriptor::new();
            descriptor.setRetainedReferences(retains);
            let commands = queue.commandBufferWithDescriptor(&descriptor).unwrap();
            let y = floats(&device, &[0.0; 32]);
            encode(&commands, |encoder| {
                bind(encoder, &y, 0, 0);
                dispatch(encoder, &increment, 32);
            });
            drop(y);
            finish(&commands).unwrap();
            if !retains {
                expect_misuse(Rule::Ownership, "a buffer of 128 bytes was released before");
            }
        }
    });
}

#[test]
fn dispatches_run_at_once_need_a_barrier_between_them() {
    test(Settings::default(), || {
        let device = device();
        let y = floats(&device, &[0.0; 32]);
        let increment = pipeline(&device, "increment");
        for barrier in [true, false] {
            let commands = commands(&device);
            encode_concurrent(&commands, |encoder| {
                bind(encoder, &y, 0, 0);
                dispatch(encoder, &increment, 32);
                if barrier {
                    encoder.memoryBarrierWithScope(MTLBarrierScope::Buffers);
                }
                dispatch(encoder, &increment, 32);
            });
            match finish(&commands) {
                Ok(()) => assert!(barrier, "the missing barrier was not seen"),
                Err(text) => assert!(!barrier && text.contains("launch-race"), "{text}"),
            }
        }
    });
}

#[test]
fn an_event_orders_two_queues() {
    test(Settings::default(), || {
        let device = device();
        let event = device.newSharedEvent().unwrap();
        let (first, second) = (commands(&device), commands(&device));
        second.encodeWaitForEvent_value(event.as_ref(), 1);
        second.commit();
        assert!(!event.waitUntilSignaledValue_timeoutMS(1, 20));
        assert!(second.status() < MTLCommandBufferStatus::Completed);
        first.encodeSignalEvent_value(event.as_ref(), 1);
        finish(&first).unwrap();
        second.waitUntilCompleted();
        assert_eq!(second.status(), MTLCommandBufferStatus::Completed);
        assert_eq!(event.signaledValue(), 1);
    });
}

#[test]
fn an_event_that_never_comes_fails_the_command_buffer() {
    test(Settings { timeout: Duration::from_millis(20), ..Settings::default() }, || {
        let device = device();
        let event = device.newSharedEvent().unwrap();
        let commands = commands(&device);
        commands.encodeWaitForEvent_value(event.as_ref(), 1);
        let text = finish(&commands).unwrap_err();
        assert!(text.contains("no event of value 1"), "{text}");
        assert_eq!(commands.status(), MTLCommandBufferStatus::Error);
    });
}

#[test]
fn a_scheduled_handler_runs_before_the_completed_one() {
    test(Settings::default(), || {
        let commands = commands(&device());
        let (send, receive) = channel();
        let handler = |text: &'static str| {
            let send = send.clone();
            RcBlock::new(move |_: NonNull<ProtocolObject<dyn MTLCommandBuffer>>| {
                send.send(text).unwrap();
            })
        };
        let (completed, scheduled) = (handler("completed"), handler("scheduled"));
        // SAFETY: the captures may be used on another thread.
        unsafe { commands.addCompletedHandler(RcBlock::as_ptr(&completed)) };
        // SAFETY: as above.
        unsafe { commands.addScheduledHandler(RcBlock::as_ptr(&scheduled)) };
        commands.setLabel(Some(&NSString::from_str("named")));
        commands.commit();
        commands.waitUntilScheduled();
        commands.waitUntilCompleted();
        assert_eq!(receive.try_iter().collect::<Vec<_>>(), ["scheduled", "completed"]);
        commands.commit();
        expect_misuse(Rule::CommandBuffer, "commit on command buffer 'named'");
    });
}

#[test]
fn a_queue_takes_a_limited_number_of_command_buffers() {
    test(Settings::default(), || {
        let queue = device().newCommandQueueWithMaxCommandBufferCount(1).unwrap();
        let first = queue.commandBuffer().unwrap();
        let second = queue.commandBuffer().unwrap();
        expect_misuse(Rule::CommandBuffer, "Metal waits here until one completes");
        drop((first, second));
    });
}
