//! What repeated measurements say, and how sure they are.
//!
//! A [`Summary`] has the mean, the median, the sample standard deviation and the half width of the 95 % confidence interval
//! of the mean (Student's t, because repeats are few). From one measurement no spread can be told, and none is made
//! up. Servers are compared by the [`ratios`] of runs of the same repeat: those lie next to each other in time, so that what
//! the machine did meanwhile happened to both. Their mean is the geometric one ([`RatioSummary`]): a run of half the rate weighs as much as one of
//! twice the rate, where the arithmetic mean of ratios is above 1 for two settings that differ in nothing but noise.

/// A sample in a few numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// How many measurements.
    pub count: usize,
    /// Arithmetic mean.
    pub mean: f64,
    /// Middle one, or the mean of the two in the middle.
    pub median: f64,
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
    /// What can be told from two or more.
    pub spread: Option<Spread>,
}

/// How far measurements lie apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Sample standard deviation (n - 1).
    pub deviation: f64,
    /// Half width of the mean's 95 % confidence interval.
    pub confidence: f64,
}

/// Summarises a sample; nothing can be said of an empty one or one with a value that is not finite.
pub fn summary(values: &[f64]) -> Option<Summary> {
    if values.is_empty() || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len();
    let mean = sorted.iter().sum::<f64>() / count as f64;
    let median = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2.0;
    let spread = (count >= 2).then(|| {
        let squares: f64 = sorted.iter().map(|value| (value - mean).powi(2)).sum();
        let deviation = (squares / (count - 1) as f64).sqrt();
        Spread { deviation, confidence: student_t(count - 1) * deviation / (count as f64).sqrt() }
    });
    Some(Summary { count, mean, median, min: sorted[0], max: sorted[count - 1], spread })
}

/// Ratios of two servers' measurements, repeat by repeat; a repeat that lacks one of them is left out. `None` if a measurement is
/// 0, whosesoever: there is no ratio then that has a logarithm, and without that repeat the one that stood still would look well.
pub fn ratios(ours: &[Option<f64>], theirs: &[Option<f64>]) -> Option<Vec<f64>> {
    let pairs = ours.iter().zip(theirs).filter_map(|(ours, theirs)| (*ours).zip(*theirs));
    pairs.map(|(ours, theirs)| (ours != 0.0 && theirs != 0.0).then_some(ours / theirs)).collect()
}

/// Ratios in a few numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RatioSummary {
    /// How many.
    pub count: usize,
    /// Geometric mean.
    pub mean: f64,
    /// The mean's 95 % confidence interval, from the ratios' logarithms; `None` of a single ratio.
    pub interval: Option<(f64, f64)>,
}

/// Summarises ratios; nothing can be said of none, or of one that is not above 0 or not finite.
pub fn ratio_summary(ratios: &[f64]) -> Option<RatioSummary> {
    let logarithms: Vec<f64> = ratios.iter().map(|ratio| ratio.ln()).collect();
    let Summary { count, mean, spread, .. } = summary(&logarithms)?;
    let interval = spread.map(|spread| ((mean - spread.confidence).exp(), (mean + spread.confidence).exp()));
    Some(RatioSummary { count, mean: mean.exp(), interval })
}

/// 97.5 % quantile of Student's t distribution. Between the tabled degrees of freedom the lower one's is taken, which is
/// the wider.
pub fn student_t(freedom: usize) -> f64 {
    const SMALL: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
        2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048,
        2.045, 2.042,
    ];
    match freedom {
        0 => f64::INFINITY,
        1..=30 => SMALL[freedom - 1],
        31..=39 => 2.042,
        40..=59 => 2.021,
        60..=119 => 2.000,
        _ => 1.980,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(actual: f64, expected: f64) {
        assert!((actual - expected).abs() < 1e-3, "{actual} is not {expected}");
    }

    #[test]
    fn a_sample_worked_by_hand() {
        // deviations -3 -1 0 0 1 3 from 5: squares 9+1+0+0+1+9 = 20, 20 / 5 = 4, t(5) = 2.571
        let sample = summary(&[8.0, 2.0, 5.0, 4.0, 5.0, 6.0]).expect("a sample");
        assert_eq!((sample.count, sample.min, sample.max), (6, 2.0, 8.0));
        close(sample.mean, 5.0);
        close(sample.median, 5.0);
        let spread = sample.spread.expect("six measurements");
        close(spread.deviation, 2.0);
        close(spread.confidence, 2.571 * 2.0 / 6f64.sqrt());
    }

    #[test]
    fn the_median_is_not_the_mean() {
        let odd = summary(&[1.0, 100.0, 2.0]).expect("a sample");
        close(odd.median, 2.0);
        close(odd.mean, 103.0 / 3.0);
        close(summary(&[1.0, 2.0, 4.0, 100.0]).expect("a sample").median, 3.0);
    }

    #[test]
    fn one_measurement_has_no_spread_and_none_no_summary() {
        assert_eq!(summary(&[7.0]).expect("a sample").spread, None);
        assert_eq!(summary(&[]), None);
        assert_eq!(summary(&[1.0, f64::NAN]), None);
    }

    #[test]
    fn two_measurements_are_hardly_sure_of_anything() {
        let spread = summary(&[10.0, 12.0]).expect("a sample").spread.expect("two");
        close(spread.deviation, 2f64.sqrt());
        close(spread.confidence, 12.706);
    }

    #[test]
    fn confidence_narrows_with_more_repeats() {
        let mut last = f64::INFINITY;
        for freedom in 1..200 {
            assert!(student_t(freedom) <= last, "{freedom}");
            last = student_t(freedom);
        }
    }

    #[test]
    fn the_interval_holds_the_true_mean_in_95_of_100_samples() {
        // sums of 12 uniform numbers are close to normal; the generator is the minimal standard one
        let mut state: u64 = 20_261_122;
        let mut uniform = || {
            state = state * 48_271 % 2_147_483_647;
            state as f64 / 2_147_483_647.0
        };
        let samples = 4000;
        let mut holds = 0;
        for _ in 0..samples {
            let values: Vec<f64> = (0..5).map(|_| (0..12).map(|_| uniform()).sum::<f64>() - 6.0).collect();
            let sample = summary(&values).expect("a sample");
            holds += usize::from(sample.mean.abs() <= sample.spread.expect("five").confidence);
        }
        let share = holds as f64 / f64::from(samples);
        assert!((0.935..0.965).contains(&share), "{share}");
    }

    #[test]
    fn ratios_have_a_geometric_mean() {
        // logarithms ln 2 and -ln 2: mean 0, deviation ln 2 * sqrt 2, times t(1) / sqrt 2
        let twice_and_half = ratio_summary(&[2.0, 0.5]).expect("two ratios");
        close(twice_and_half.mean, 1.0);
        let (low, high) = twice_and_half.interval.expect("two ratios");
        close(high.ln(), 12.706 * 2f64.ln());
        close(low.ln(), -12.706 * 2f64.ln());
        assert_eq!(ratio_summary(&[0.9; 3]).expect("three").count, 3);
        assert_eq!(ratio_summary(&[0.5]).expect("one").interval, None);
        assert_eq!(ratio_summary(&[]), None);
        for no_ratio in [0.0, -1.0, f64::INFINITY] {
            assert_eq!(ratio_summary(&[1.0, no_ratio]), None);
        }
    }

    #[test]
    fn ratios_pair_what_ran_together() {
        let ours = [Some(10.0), None, Some(30.0), Some(0.0)];
        let theirs = [Some(5.0), Some(0.0), Some(10.0), None];
        assert_eq!(ratios(&ours, &theirs), Some(vec![2.0, 3.0]));
    }

    #[test]
    fn a_run_that_stood_still_makes_no_ratio_whosesoever_it_is() {
        let (goes, stands) = ([Some(10.0), Some(10.0)], [Some(10.0), Some(0.0)]);
        assert_eq!(ratios(&goes, &stands), None);
        assert_eq!(ratios(&stands, &goes), None);
        assert_eq!(ratios(&stands, &stands), None);
    }
}
