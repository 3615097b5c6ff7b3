//! Generics, closures and iterators of core inlined into them; without std, so that the program stays small.
//! usage: hot CPU_MILLISECONDS
#![no_std]
#![no_main]

use core::hint::black_box;

#[link(name = "c")]
unsafe extern "C" {
    fn clock() -> i64;
    fn atol(text: *const u8) -> i64;
    fn abort() -> !;
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    unsafe { abort() }
}

mod numbers {
    pub trait Step {
        fn step(&self, x: u64) -> u64;
    }

    pub struct Xor(pub u64);

    impl Step for Xor {
        #[inline(never)]
        fn step(&self, x: u64) -> u64 {
            (0..32).fold(x, |x, i| (x ^ self.0).rotate_left(i) ^ (x >> 3))
        }
    }

    #[inline(never)]
    pub fn sum<S: Step>(steps: &[S], values: &mut [u64]) -> u64 {
        values.iter_mut().zip(steps.iter().cycle()).map(|(value, step)| {
            *value = step.step(*value);
            *value
        }).filter(|value| value % 3 != 0).fold(0, u64::wrapping_add)
    }
}

#[inline(never)]
fn selection_sort<T: Ord + Copy>(values: &mut [T]) {
    for at in 0..values.len() {
        if let Some(least) = (at..values.len()).min_by_key(|index| values[*index]) {
            values.swap(at, least);
        }
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn main(argc: i32, argv: *const *const u8) -> i32 {
    let until = if argc > 1 { unsafe { atol(*argv.add(1)) } } else { 100 };
    let steps = [numbers::Xor(3), numbers::Xor(5)];
    let mut values = [1_u64; 64];
    while unsafe { clock() } / 1000 < until {
        black_box(numbers::sum(&steps, &mut values));
        let mut copy = values;
        selection_sort(&mut copy);
        black_box(copy);
    }
    0
}
