//! Sample pages: realistic numbers from a small generator, the same in every run.

use graphfill_report::page::*;

/// A generator of numbers that look random (SplitMix64).
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) fn new(seed: u64) -> Numbers {
        Numbers(seed)
    }

    /// Uniform in [0, 1).
    pub(crate) fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// About normal: mean 0, variance 1.
    pub(crate) fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

fn coverage(numbers: &mut Numbers, cells: usize) -> Vec<Coverage> {
    [0.5, 0.8, 0.9, 0.95]
        .map(|nominal: f64| {
            let sd = (nominal * (1.0 - nominal) / cells as f64).sqrt();
            let real = (nominal + sd * numbers.normal()).clamp(0.0, 1.0);
            Coverage { nominal, real, cells }
        })
        .to_vec()
}

fn histogram(values: impl Fn(&mut Numbers) -> f64, numbers: &mut Numbers) -> Distribution {
    let observed: Vec<f64> = (0..900).map(|_| values(numbers)).collect();
    let mean = observed.iter().sum::<f64>() / 900.0;
    let estimated: Vec<f64> = (0..300).map(|_| mean + 0.7 * (values(numbers) - mean)).collect();
    let low = observed.iter().copied().fold(f64::INFINITY, f64::min);
    let high = observed.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let edges: Vec<f64> = (0..=24).map(|bin| low + (high - low) * f64::from(bin) / 24.0).collect();
    let counts = |values: &[f64]| {
        edges
            .windows(2)
            .map(|bin| values.iter().filter(|value| **value >= bin[0] && **value < bin[1]).count())
            .collect()
    };
    let (observed, estimated) = (counts(&observed), counts(&estimated));
    Distribution::Histogram { edges, observed, estimated }
}

pub(crate) fn number(name: &str, scale: f64, shift: f64, cells: usize, seed: u64) -> ColumnPage {
    let mut numbers = Numbers::new(seed);
    let noise = 0.3 + 0.4 * numbers.uniform();
    let hidden = (0..cells)
        .map(|_| {
            let signal = numbers.normal();
            let observed = shift + scale * (signal + noise * numbers.normal());
            let estimate = shift + scale * signal;
            let half = 1.645 * noise * scale;
            HiddenCell { observed, estimate, interval: Some((estimate - half, estimate + half)) }
        })
        .collect();
    let missing = 40 + (numbers.uniform() * 260.0) as usize;
    ColumnPage {
        name: name.to_owned(),
        kind: "number".to_owned(),
        missing,
        observed: 1225 - missing,
        method: ["feature_propagation", "svga", "pcfi"][seed as usize % 3].to_owned(),
        reason: Some("lowest error on validation cells of 7 methods".to_owned()),
        error: Some(ColumnError {
            measure: "RMSE".to_owned(),
            method: noise * scale,
            baseline: scale * (1.0 + noise * noise).sqrt(),
            lower_is_better: true,
        }),
        hidden: cells * 2,
        cells: hidden,
        distribution: Some(histogram(|numbers| shift + scale * numbers.normal(), &mut numbers)),
        coverage: coverage(&mut numbers, cells * 2),
        ..ColumnPage::default()
    }
}

pub(crate) fn category(name: &str, levels: &[&str], seed: u64) -> ColumnPage {
    let mut numbers = Numbers::new(seed);
    let size = levels.len();
    let count = |numbers: &mut Numbers, right: bool| {
        (numbers.uniform() * if right { 90.0 } else { 60.0 / size as f64 }) as usize
            + usize::from(right) * 10
    };
    let counts: Vec<Vec<usize>> = (0..size)
        .map(|row| (0..size).map(|column| count(&mut numbers, row == column)).collect())
        .collect();
    let reliability = (0..10)
        .map(|bin| {
            let probability = 0.05 + 0.1 * f64::from(bin);
            let share = (probability - 0.06 + 0.08 * numbers.uniform()).clamp(0.0, 1.0);
            ReliabilityBin { probability, share, cells: 10 + bin as usize * 5 }
        })
        .collect();
    let levels: Vec<String> = levels.iter().map(|level| (*level).to_owned()).collect();
    let frequencies = levels
        .iter()
        .map(|level| {
            (
                level.clone(),
                100 + (numbers.uniform() * 300.0) as usize,
                20 + (numbers.uniform() * 60.0) as usize,
            )
        })
        .collect();
    ColumnPage {
        name: name.to_owned(),
        kind: if size == 2 { "boolean" } else { "category" }.to_owned(),
        missing: 150,
        observed: 1075,
        method: "feature_propagation".to_owned(),
        reason: Some("highest hit rate on validation cells".to_owned()),
        error: Some(ColumnError {
            measure: "hit rate".to_owned(),
            method: 0.82,
            baseline: 0.58,
            lower_is_better: false,
        }),
        hidden: 300,
        confusion: Some(Confusion { levels, counts }),
        reliability,
        distribution: Some(Distribution::Levels(frequencies)),
        coverage: coverage(&mut numbers, 300),
        ..ColumnPage::default()
    }
}

pub(crate) fn run() -> RunInfo {
    RunInfo {
        command:
            "graphfill fill wards.csv --edges wards-edges.csv --intervals 0.9 --report wards.html"
                .to_owned(),
        version: "0.1.0".to_owned(),
        seed: 7,
        seconds: 12.34,
        device: "CPU (16 threads)".to_owned(),
    }
}

/// A page with one column of every kind.
pub(crate) fn small_page() -> FillPage {
    let mut columns = vec![
        number("median_income", 8200.0, 41_000.0, 140, 1),
        number("share_renting", 0.11, 0.42, 120, 2),
        number("population density per km²", 900.0, 4000.0, 120, 3),
        category("region", &["north", "east", "south", "west", "centre"], 4),
        category("has_station", &["false", "true"], 5),
        number("pm25", 2.4, 11.0, 100, 6),
    ];
    let mut opened = number("first_survey", 700.0, 17_500.0, 90, 8);
    (opened.kind, opened.is_date) = ("date".to_owned(), true);
    let mut skewed = number("visitors", 1.3, 6.0, 120, 9);
    skewed.kind = "count".to_owned();
    for cell in &mut skewed.cells {
        cell.observed = cell.observed.exp();
        cell.estimate = cell.estimate.exp();
        cell.interval = cell.interval.map(|(low, high)| (low.exp(), high.exp()));
    }
    let mut block = category("bag_of_words", &["false", "true"], 10);
    block.kind = "binary block".to_owned();
    block.confusion = None;
    block.error = Some(ColumnError {
        measure: "recall@10".to_owned(),
        method: 0.31,
        baseline: 0.19,
        lower_is_better: false,
    });
    columns.extend([opened, skewed, block]);
    FillPage {
        title: "london_wards".to_owned(),
        run: run(),
        nodes: 1225,
        edges: 3540,
        estimated: columns.iter().map(|column| column.missing).sum(),
        level: Some(0.9),
        warnings: vec![
            "first_survey: missing cells depend on the degree of the node (p < 0.001); the coverage holds for cells that are missing as the hidden ones were.".to_owned(),
            "14 nodes have no neighbours: their estimates are column means.".to_owned(),
        ],
        missing: missing(&columns),
        by_hops: groups(&["1 hop", "2 hops", "3 hops", "4 or more hops"], 0.42),
        by_degree: groups(&["degree 0", "degree 1", "degree 2 to 3", "degree 4 to 7", "degree 8 or more"], 0.5),
        columns,
    }
}

fn groups(labels: &[&str], start: f64) -> Vec<GroupError> {
    let mut numbers = Numbers::new(labels.len() as u64);
    labels
        .iter()
        .enumerate()
        .map(|(index, label)| GroupError {
            label: (*label).to_owned(),
            cells: 900 >> index,
            error: start + 0.13 * index as f64,
            coverage: Some(0.91 - 0.015 * index as f64 + 0.01 * numbers.uniform()),
        })
        .collect()
}

fn missing(columns: &[ColumnPage]) -> MissingCells {
    let mut numbers = Numbers::new(99);
    let total = |column: &ColumnPage| (column.missing + column.observed).max(1) as f64;
    let patterns = (0..14)
        .map(|pattern| Pattern {
            missing: (0..columns.len())
                .map(|column| pattern > 0 && (column == pattern - 1 || numbers.uniform() < 0.15))
                .collect(),
            rows: (620.0 / f64::from(pattern as u32 + 1).powf(1.4)) as usize,
        })
        .collect();
    let mut together: Vec<(usize, usize, f64)> = (0..columns.len().min(9))
        .flat_map(|first| (0..first).map(move |second| (second, first)))
        .map(|(first, second)| (first, second, 1.5 * numbers.uniform() - 0.5))
        .collect();
    together.sort_by(|a, b| b.2.abs().total_cmp(&a.2.abs()));
    together.truncate(30);
    MissingCells {
        columns: columns
            .iter()
            .map(|column| (column.name.clone(), column.missing as f64 / total(column)))
            .collect(),
        patterns,
        other_rows: 86,
        together,
    }
}

/// A page with this many columns, each with about 100 hidden cells.
pub(crate) fn wide_page(count: usize) -> FillPage {
    let columns: Vec<ColumnPage> = (0..count)
        .map(|index| match index % 8 {
            3 => category(
                &format!("category_of_{index:03}"),
                &["low", "middle", "high", "very high", "unknown"],
                index as u64,
            ),
            5 => category(&format!("flag_{index:03}"), &["false", "true"], index as u64),
            _ => number(
                &format!("measurement_{index:03}"),
                10f64.powi(index as i32 % 7 - 3),
                5.0,
                100,
                index as u64,
            ),
        })
        .collect();
    FillPage {
        title: "wide_table".to_owned(),
        nodes: 1_000_000,
        edges: 12_345_678,
        estimated: columns.iter().map(|column| column.missing).sum(),
        missing: missing(&columns),
        columns,
        ..small_page()
    }
}
