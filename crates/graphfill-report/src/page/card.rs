//! Cards: a plot with its title, a note and a button that copies its data as CSV; grids of cards.

use serde_json::{Map, Value};

use super::draw;
use super::plot::{Data, Plot};
use crate::figure::svg::Escaped;

/// How many plots of a grid are drawn on the page; the reader draws the others on demand.
pub(super) const MAX_DRAWN: usize = 12;

/// What the plots of a grid are of, where they are of columns.
pub(super) const COLUMNS: [&str; 2] = ["columns", "those with the most missing cells"];

/// The data of the page's plots, by their identifiers.
#[derive(Debug, Default)]
pub(super) struct PlotData {
    plots: Map<String, Value>,
    grids: Map<String, Value>,
}

impl PlotData {
    /// The JSON between the tags of a script element.
    pub(super) fn to_json(&self) -> String {
        let mut all = Map::new();
        all.insert("grids".to_owned(), Value::Object(self.grids.clone()));
        all.insert("plots".to_owned(), Value::Object(self.plots.clone()));
        // Nothing in the text may end the script element.
        Value::Object(all).to_string().replace('<', "\\u003c")
    }

    /// A card with a plot.
    pub(super) fn card(&mut self, plot: &Plot) -> String {
        let plot = plot.clone().fitted();
        self.plots.insert(plot.id.clone(), plot.to_json());
        card(&plot.id, &plot.title, &plot.note, &draw::svg(&plot))
    }

    /// A card with a drawing of its own.
    pub(super) fn drawing(
        &mut self,
        id: &str,
        (title, note): (&str, &str),
        svg: &str,
        data: &Data,
    ) -> String {
        let mut plot = Map::new();
        data.add_to(&mut plot);
        plot.insert("t".to_owned(), title.into());
        self.plots.insert(id.to_owned(), Value::Object(plot));
        card(id, title, note, svg)
    }

    /// A grid of all cards.
    pub(super) fn cards(&mut self, plots: &[Plot]) -> String {
        let cards: String = plots.iter().map(|plot| self.card(plot)).collect();
        if cards.is_empty() { cards } else { format!("<div class=\"grid\">{cards}</div>\n") }
    }

    /// A grid of the first cards, with a control that draws the others. `name` identifies the grid;
    /// `things` are what has plots, and which of them are drawn first.
    pub(super) fn grid(
        &mut self,
        name: &str,
        [things, first_things]: [&str; 2],
        plots: &[Plot],
    ) -> String {
        let (first, others) = plots.split_at(plots.len().min(MAX_DRAWN));
        if others.is_empty() {
            return self.cards(first);
        }
        for plot in others {
            self.plots.insert(plot.id.clone(), plot.clone().fitted().to_json());
        }
        let identifiers = others.iter().map(|plot| Value::from(plot.id.as_str())).collect();
        self.grids.insert(name.to_owned(), identifiers);
        let cards: String = first.iter().map(|plot| self.card(plot)).collect();
        let (shown, total) = (first.len(), plots.len());
        format!(
            "<p class=\"more\">{shown} of {total} {things} are drawn: {first_things}. \
             <span class=\"js\"><label>Draw another: <input type=\"search\" list=\"l-{name}\" \
             data-grid=\"{name}\" placeholder=\"name\" autocomplete=\"off\"></label>\
             <datalist id=\"l-{name}\"></datalist> \
             <button type=\"button\" data-all=\"{name}\">Draw all</button> \
             <span role=\"status\" id=\"s-{name}\"></span></span></p>\n\
             <div class=\"grid\" id=\"g-{name}\">{cards}</div>\n"
        )
    }
}

/// The text of a card; `script.js` makes the same.
fn card(id: &str, title: &str, note: &str, svg: &str) -> String {
    let (id, title, note) = (Escaped(id), Escaped(title), Escaped(note));
    format!(
        "<figure class=\"card\" data-plot=\"{id}\"><figcaption><h3>{title}</h3><p>{note}</p></figcaption>\
         {svg}<button type=\"button\" class=\"csv js\" aria-label=\"Copy as CSV: {title}\">Copy as CSV</button></figure>"
    )
}
