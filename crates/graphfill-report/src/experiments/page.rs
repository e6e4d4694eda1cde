//! One page of all experiments.

use graphfill_eval::experiments::Experiment;

/// What a page begins with.
pub const PAGE_TITLE: &str = "# The paper's experiments, repeated";

/// The experiments of a folder on one page, in the order of the paper. `texts` are what
/// [`report`](super::report) gave; `folder` is where their figures and tables are, seen from the page,
/// empty where they lie beside it.
pub fn page(texts: &[(Experiment, String)], folder: &str) -> String {
    let mut page = format!(
        "{PAGE_TITLE}\n\nYoo, Jeon, Jung and Kang: *Accurate Node Feature Estimation with Structured Variational Graph Autoencoder*, KDD 2022. Every figure beside the paper's was computed by the command below its table; `graphfill reproduce --help` says how.\n",
    );
    for experiment in Experiment::ALL {
        let Some((_, text)) = texts.iter().find(|(own, _)| *own == experiment) else { continue };
        let mut text = text.clone();
        for ending in ["svg", "csv"] {
            let file = format!("{}.{ending}", experiment.name());
            if !folder.is_empty() {
                text = text.replace(&format!("]({file})"), &format!("]({folder}/{file})"));
            }
        }
        page.push('\n');
        page.push_str(&text);
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_the_folder() {
        let texts = [
            (Experiment::Scaling, "## B\n![B](scaling.svg)\n".to_owned()),
            (Experiment::Table2, "## A\n[table2.csv](table2.csv)\n".to_owned()),
        ];
        let page = page(&texts, "reproduction");
        assert!(page.contains("[table2.csv](reproduction/table2.csv)"));
        assert!(page.contains("![B](reproduction/scaling.svg)"));
        assert!(page.find("## A") < page.find("## B"));
    }
}
