//! Pages of any numbers: never a panic, never a coordinate that is no number.

use graphfill_report::page::*;
use proptest::prelude::*;

use crate::html::check;
use crate::{evaluations, samples};

fn any_number() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => -10.0..10.0f64,
        1 => any::<f64>(),
        1 => proptest::sample::select(vec![
            0.0,
            -0.0,
            1.0,
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::MAX,
            f64::MIN,
            f64::MIN_POSITIVE,
            5e-324,
            1e300,
            -1e300,
        ]),
    ]
}

prop_compose! {
    fn any_column()(
        numbers in proptest::collection::vec(any_number(), 40..80),
        counts in proptest::collection::vec(0..1000usize, 16),
        is_date in any::<bool>(),
        name in any::<String>(),
    ) -> ColumnPage {
        let cells = numbers
            .chunks_exact(4)
            .map(|four| HiddenCell {
                observed: four[0],
                estimate: four[1],
                interval: (!is_date || four[2] > 0.0).then_some((four[2], four[3])),
            })
            .collect();
        ColumnPage {
            name: name.clone(),
            missing: counts[0],
            observed: counts[1],
            hidden: counts[2],
            cells: if counts[3] > 300 { cells } else { Vec::new() },
            error: Some(ColumnError {
                measure: name.clone(),
                method: numbers[0],
                baseline: numbers[1],
                lower_is_better: is_date,
            }),
            confusion: Some(Confusion {
                levels: vec![name.clone(), "b".to_owned()],
                counts: vec![counts[..2].to_vec(), counts[2..4].to_vec()],
            }),
            reliability: numbers
                .chunks_exact(2)
                .map(|two| ReliabilityBin { probability: two[0], share: two[1], cells: counts[4] })
                .collect(),
            distribution: Some(match counts[5] % 2 {
                0 => Distribution::Levels(vec![(name, counts[6], counts[7])]),
                _ => Distribution::Histogram {
                    edges: numbers[..9].to_vec(),
                    observed: counts[..8].to_vec(),
                    estimated: counts[8..].to_vec(),
                },
            }),
            coverage: numbers
                .chunks_exact(2)
                .take(3)
                .map(|two| Coverage { nominal: two[0], real: two[1], cells: counts[8] })
                .collect(),
            is_date,
            ..ColumnPage::default()
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_numbers_make_a_page(
        columns in proptest::collection::vec(any_column(), 0..20),
        numbers in proptest::collection::vec(any_number(), 8),
        level in proptest::option::of(any_number()),
    ) {
        let group = |at: usize| GroupError {
            label: "group".to_owned(),
            cells: at,
            error: numbers[at],
            coverage: (numbers[at] > 0.0).then_some(numbers[at + 1]),
        };
        let page = FillPage {
            level,
            missing: MissingCells {
                columns: columns.iter().map(|column| (column.name.clone(), numbers[0])).collect(),
                patterns: vec![Pattern { missing: vec![true], rows: 3 }],
                other_rows: 1,
                together: vec![(0, 7, numbers[1])],
            },
            columns,
            by_hops: vec![group(0), group(1)],
            by_degree: vec![group(2), group(3), group(4)],
            ..samples::small_page()
        };
        let html = page.to_html();
        prop_assert_eq!(check(&html), Ok(()));
    }

    #[test]
    fn any_metrics_make_a_page(values in proptest::collection::vec(any_number(), 24), name in any::<String>()) {
        let mut evaluation = evaluations::evaluation(2);
        evaluation.primary = name.clone();
        let mut values = values.into_iter().cycle();
        for method in &mut evaluation.methods {
            for seed in &mut method.seeds {
                seed.seconds = values.next().unwrap_or(0.0);
            }
            let seeds = method.seeds.iter_mut().map(|seed| &mut seed.test);
            for metrics in seeds.chain([&mut method.mean, &mut method.sd]) {
                metrics.table.insert(name.clone(), 0.0);
                metrics.table.values_mut().for_each(|value| *value = values.next().unwrap_or(0.0));
                for column in metrics.columns.values_mut() {
                    column.values_mut().for_each(|value| *value = values.next().unwrap_or(0.0));
                }
            }
        }
        for comparison in &mut evaluation.comparisons {
            comparison.difference = values.next().unwrap_or(0.0);
        }
        let html = evaluation_page(&evaluation, &RunInfo::default());
        prop_assert_eq!(check(&html), Ok(()));
    }
}
