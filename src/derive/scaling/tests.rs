use super::*;

/// One repetition per size, times computed by hand in the test that asks.
fn series(times: &[(i64, i64)], jitter: &[i64]) -> Tables {
    let mut tables = Tables::default();
    for (work, wall_ns) in times {
        for (repetition, more) in jitter.iter().enumerate() {
            tables.benchmarks.push(Benchmark {
                artifact_id: 0,
                command: format!("./p --size={work} 2").into(),
                parameters: format!("n={work}").into(),
                variant: None,
                threads: None,
                work: Some(*work),
                function: None,
                repetition: repetition as i32,
                wall_ns: wall_ns + wall_ns * more / 1000,
                user_ns: None,
                system_ns: None,
                exit_code: Some(0),
                pointer: "".into(),
            });
        }
    }
    fit(&mut tables);
    tables
}

/// t = 0.1 s + n^2 * 1 us: 0.101, 0.104, 0.116, 0.164, 0.356 s for n = 1000 .. 16000 in thousands of microseconds. The
/// plain slope between the ends is ln(3.52) / ln(16) = 0.45; the law behind it is 2.
#[test]
fn a_constant_does_not_mask_a_square() {
    let times: Vec<(i64, i64)> = [1, 2, 4, 8, 16].map(|n: i64| (n * 1000, 100_000_000 + n * n * 1_000_000)).to_vec();
    let tables = series(&times, &[0]);
    let [row] = &tables.scaling[..] else { panic!("{:?}", tables.scaling) };
    assert!((row.exponent - 2.0).abs() < 0.02, "{row:?}");
    assert!((row.start_ns - 100_000_000).abs() < 1_000_000, "{row:?}");
    assert_eq!((row.sizes, row.smallest, row.largest, row.n, row.n_least), (5, 1000, 16_000, 5, 1));
    assert_eq!((row.command.as_ref(), row.shape.as_deref()), ("./p --size={n} 2", Some("superlinear")));
    assert!(row.lo > 1.9 && row.hi < 2.1, "{row:?}");
}

/// t = 3 us * n exactly, t = const, t = n log2 n (10, 11, 12, 13 for 2^10 .. 2^13).
#[test]
fn shapes() {
    let law = |times: &[(i64, i64)]| series(times, &[-5, 0, 5]).scaling.first().cloned().unwrap();
    let line = law(&[1, 2, 4, 8].map(|n| (n * 1000, n * 3_000_000)));
    assert!((line.exponent - 1.0).abs() < 0.02, "{line:?}");
    assert_eq!(line.shape.as_deref(), Some("linear"), "{line:?}");
    let root = law(&[1, 4, 16, 64].map(|n: i64| (n * 1000, n.isqrt() * 3_000_000)));
    assert!((root.exponent - 0.5).abs() < 0.02, "{root:?}");
    assert_eq!(root.shape.as_deref(), Some("sublinear"), "{root:?}");
    let n_log_n = law(&[10, 11, 12, 13].map(|log: i64| (1 << log, (1 << log) * log * 1000)));
    assert!(n_log_n.exponent > 1.05 && n_log_n.exponent < 1.2, "{n_log_n:?}");
}

/// Noise of 20 % at three sizes over a factor of four does not decide: nothing is called superlinear.
#[test]
fn noise_is_in_the_interval() {
    let tables = series(&[(1000, 1_000_000), (2000, 2_600_000), (4000, 5_200_000)], &[-200, 0, 200]);
    let row = tables.scaling.first().unwrap();
    assert!(row.hi - row.lo > 0.3, "{row:?}");
    assert_ne!(row.shape.as_deref(), Some("superlinear"), "{row:?}");
}

/// A cliff at one size (times 1, 2, 4, 8 and then 40 instead of 16): without that size the law is 1, and the interval
/// says so.
#[test]
fn one_size_alone_makes_no_law() {
    let tables = series(&[(1000, 1_000_000), (2000, 2_000_000), (4000, 4_000_000), (8000, 8_000_000), (16_000, 40_000_000)], &[0]);
    let row = tables.scaling.first().unwrap();
    assert!(row.lo < 1.05, "{row:?}");
    assert_eq!(row.shape, None, "{row:?}");
}

/// Two sizes are no series; failed runs and runs without a size do not count; other words stay in the name.
#[test]
fn what_is_no_series() {
    assert!(series(&[(1000, 1), (2000, 4)], &[0]).scaling.is_empty());
    assert!(series(&[(0, 1), (2000, 4), (4000, 16)], &[0]).scaling.is_empty());
    assert_eq!(series_name("./p20 20 in-20.txt -n=20 200", 20), "./p20 {n} in-{n}.txt -n={n} 200");
    assert_eq!(series_name("", 20), "");
}
