//! The discount difference of LambdaRank's ranks as a sum of exponentials.

/// `(rate, amplitude)`: `delta_m = 1/log2(1 + m) - 1/log2(2 + m)` equals the sum of `amplitude exp(-rate m)` within a
/// relative error of 4e-7 for distances `m` from 1 to 2^22.
///
/// `1/log2(1 + m)` is a Stieltjes function of `m`, so `delta` is a mixture of decaying exponentials with positive weights
/// and can be approximated by few of them. Rates and amplitudes were fitted by least squares of the relative error
/// (variable projection, reweighted towards the largest error).
pub(crate) const MODES: [(f64, f64); 30] = [
    (3.4241932032478632, 1.68584688380225),
    (1.8492526190627725, 0.5977950137351412),
    (1.0937192756700407, 0.2640707358788372),
    (0.6605063206341041, 0.11880153010182737),
    (0.4001233069915367, 0.05274149639814145),
    (0.2418394661790536, 0.02320657459501704),
    (0.14560289682423905, 0.010224671798615597),
    (0.08728709059493887, 0.004546590719551235),
    (0.05211126390795052, 0.0020495827776488063),
    (0.030995394691770223, 0.0009386907324124765),
    (0.018376051391933306, 0.00043700596033638634),
    (0.010864233459342978, 0.00020669005821139725),
    (0.006408231504654723, 9.921025234931762e-05),
    (0.0037728109507276894, 4.8268515770574e-05),
    (0.0022180422804530696, 2.3774444067866832e-05),
    (0.0013026628071967149, 1.1841966959658266e-05),
    (0.0007645651325011336, 5.959064936291319e-06),
    (0.00044860006351277426, 3.0271036741087728e-06),
    (0.00026318741917121907, 1.5512405645109432e-06),
    (0.00015441086656412114, 8.013871480339616e-07),
    (9.059396583522998e-05, 4.170749692682935e-07),
    (5.3145932841230165e-05, 2.1856524159417286e-07),
    (3.115737895509156e-05, 1.1531177028448891e-07),
    (1.8226935569573772e-05, 6.128067129621004e-08),
    (1.0595360083826545e-05, 3.287479218166572e-08),
    (6.054176433575113e-06, 1.7869701287203926e-08),
    (3.3139063991229737e-06, 9.839788844745082e-09),
    (1.6416552567502624e-06, 5.363486921452447e-09),
    (6.44611306118123e-07, 2.663836087053606e-09),
    (1.2842647643932345e-07, 9.02807200172425e-10),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_sum_to_the_weight() {
        let mut distance = 1u64;
        while distance <= 1 << 22 {
            let m = distance as f64;
            let sum: f64 = MODES.iter().map(|(rate, amplitude)| amplitude * (-rate * m).exp()).sum();
            // Equals 1/log2(1 + m) - 1/log2(2 + m), but without cancellation.
            let exact = (1.0 / (1.0 + m)).ln_1p() * std::f64::consts::LN_2 / ((1.0 + m).ln() * (2.0 + m).ln());
            assert!((sum / exact - 1.0).abs() < 4e-7, "{m}: {sum} is not {exact}");
            distance += 1 + distance / 5_000;
        }
    }
}
