//! Blocks that are wider than what a kernel takes at a time, of every kind, under one decoder.

use super::*;

/// Blocks of many columns, among them rows of many ones, which devices cut up in other ways than
/// narrow ones. The derivatives are told by what a small step along some direction changes.
#[test]
fn wide_blocks_are_judged() {
    let (rows, width) = (5, 3);
    let block = |kind: PlainKind, width: usize, cell: &dyn Fn(usize) -> Option<f32>| {
        let number = |row: usize, column: usize| (row * 31 + column * 17 + width) % 10;
        let row = |row: usize| (0..width).map(|column| cell(number(row, column))).collect();
        Plain { kind, weight: 0.5, cells: (0..rows).map(row).collect(), width }
    };
    let often = |number: usize| Some(if number < 9 { 1.0 } else { 0.0 });
    let rarely = |number: usize| Some(if number == 0 { 1.0 } else { 0.0 });
    let holes = |number: usize| (number > 2).then_some(number as f32 * 0.1);
    let level = |number: usize| (number != 4).then_some(number as f32 * 30.0);
    let blocks = [
        block(PlainKind::BalancedBernoulli, 601, &often),
        block(PlainKind::SquaredError, 2, &holes),
        block(PlainKind::Multinomial, 301, &rarely),
        block(PlainKind::Categorical, 280, &level),
        block(PlainKind::Bernoulli, 530, &holes),
        block(PlainKind::Multinomial, 290, &holes),
        block(PlainKind::Categorical, 7, &|number| Some((number % 7) as f32)),
        block(PlainKind::SquaredError, 70, &rarely),
    ];
    let likelihood = likelihood_of(rows, &blocks, true);
    let columns = likelihood.shape().columns;
    let scores = Shape::new(rows, columns);
    let names = ["latent", "weight", "bias", "offset", "scale", "other", "scales"];
    let shapes = [
        Shape::new(rows, width),
        Shape::new(width, columns),
        Shape::new(1, columns),
        scores,
        Shape::SCALAR,
        scores,
        Shape::new(1, columns),
    ];
    let program = Program::new("test");
    let each = |at: usize| program.parameter(names[at], shapes[at], Initial::Normal(1.0));
    let parameters: [_; 7] = std::array::from_fn(each);
    let [latent, weight, bias, offset, scale, other, scales] = parameters;
    let offsets = vec![(offset, scale), (other, scales)];
    let loss = latent.decoder_loss(Decoder { weight, bias: Some(bias), offsets }, &likelihood);
    program.output("loss", loss);
    for (name, gradient) in names.iter().zip(program.differentiate(loss, &names)) {
        program.output(name, gradient);
    }
    let plan = Plan::new(vec![program.finish().expect("a program")]).expect("a plan");
    let mut session = crate::testing::session(plan, 1);
    session.scribble();
    session.run("test").expect("a run");
    let exact = |at: usize| Reference {
        shape: shapes[at],
        values: session
            .buffer(names[at])
            .expect("a parameter")
            .into_iter()
            .map(f64::from)
            .collect(),
    };
    let at: Vec<Reference> = (0..names.len()).map(exact).collect();
    let reference = |x: &[Reference]| {
        let product = x[0].product(&x[1]);
        let scores = Reference::new(scores, |row, column| {
            let offset = x[4].values[0] * x[3].at(row, column);
            let other = x[6].at(0, column) * x[5].at(row, column);
            product.at(row, column) + x[2].at(0, column) + offset + other
        });
        loss_of(&blocks, &scores).values[0]
    };
    let expected = reference(&at);
    let found = f64::from(session.scalar("test", "loss").expect("a loss"));
    let tolerance = 2e-5 * crate::testing::coarseness();
    assert!((found - expected).abs() < tolerance * expected, "{found} {expected}");
    for (number, name) in names.iter().enumerate() {
        let gradient = session.read("test", name).expect("a gradient");
        let direction = some_numbers(gradient.len(), number);
        let moved = |by: f64| {
            let mut moved = at.clone();
            for (value, &along) in moved[number].values.iter_mut().zip(&direction) {
                *value += by * f64::from(along);
            }
            reference(&moved)
        };
        let expected = (moved(1e-5) - moved(-1e-5)) / 2e-5;
        let pairs = || gradient.iter().zip(&direction);
        let found: f64 = pairs().map(|(&g, &along)| f64::from(g) * f64::from(along)).sum();
        let terms: f64 = pairs().map(|(g, along)| f64::from(g * along).powi(2)).sum();
        assert!((found - expected).abs() < tolerance * terms.sqrt(), "{name}: {found} {expected}");
    }
}
