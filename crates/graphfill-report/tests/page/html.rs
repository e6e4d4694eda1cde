//! A small check that a page is well-formed: tags nest, attributes are quoted, identifiers are
//! unique, entities are known, and coordinates are numbers.

use std::collections::BTreeSet;

const VOID: [&str; 2] = ["meta", "input"];
const RAW: [&str; 2] = ["script", "style"];

/// What is wrong with the page.
pub(crate) fn check(page: &str) -> Result<(), String> {
    let mut rest = page.strip_prefix("<!DOCTYPE html>\n").ok_or("no doctype")?;
    let mut open: Vec<&str> = Vec::new();
    let mut identifiers = BTreeSet::new();
    while let Some(start) = rest.find('<') {
        check_text(&rest[..start])?;
        let end = rest[start..].find('>').ok_or("a tag without an end")? + start;
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            if open.pop() != Some(name) {
                return Err(format!("</{name}> closes another tag, within {open:?}"));
            }
            continue;
        }
        let (tag, closed) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        if name.is_empty() || !name.chars().all(|letter| letter.is_ascii_alphanumeric()) {
            return Err(format!("<{tag}> has no name"));
        }
        if let Some(identifier) = check_attributes(attributes)?
            && !identifiers.insert(identifier)
        {
            return Err(format!("two elements have the identifier {identifier:?}"));
        }
        if RAW.contains(&name) {
            let close = format!("</{name}>");
            rest =
                &rest[rest.find(&close).ok_or(format!("<{name}> is not closed"))? + close.len()..];
        } else if !closed && !VOID.contains(&name) {
            open.push(name);
        }
    }
    if open.is_empty() && rest.trim().is_empty() {
        Ok(())
    } else {
        Err(format!("{open:?} are open"))
    }
}

/// The value of `id`, where the tag has one.
fn check_attributes(text: &str) -> Result<Option<&str>, String> {
    let mut names = Vec::new();
    let mut identifier = None;
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        if let Some(behind) = rest.strip_prefix("open") {
            rest = behind.trim_start();
            continue;
        }
        let (name, value) = rest.split_once("=\"").ok_or(format!("no attribute: {rest:?}"))?;
        let (value, behind) = value.split_once('"').ok_or(format!("no quote: {value:?}"))?;
        if names.contains(&name) || name.contains(char::is_whitespace) || name.starts_with("on") {
            return Err(format!("attribute {name:?}"));
        }
        if ["d", "x", "y", "width", "height", "transform", "viewBox", "style", "fill-opacity"]
            .contains(&name)
            && ["NaN", "inf"].iter().any(|word| value.contains(word))
        {
            return Err(format!("{name} has no number: {value:?}"));
        }
        if name == "id" {
            identifier = Some(value);
        }
        names.push(name);
        check_text(value)?;
        rest = behind.trim_start();
    }
    Ok(identifier)
}

fn check_text(text: &str) -> Result<(), String> {
    for (position, _) in text.match_indices('&') {
        let known = ["&amp;", "&lt;", "&gt;", "&quot;"];
        if !known.iter().any(|entity| text[position..].starts_with(entity)) {
            return Err(format!("entity in {text:?}"));
        }
    }
    match text.chars().find(|letter| letter.is_control() && *letter != '\n') {
        Some(letter) => Err(format!("{letter:?} in {text:?}")),
        None => Ok(()),
    }
}

#[test]
fn the_check_finds_what_is_wrong() {
    let page = |body: &str| format!("<!DOCTYPE html>\n<html>{body}</html>\n");
    for right in ["<p id=\"a\">x &amp; y<input type=\"b\"></p>", "<script>a < b</script>"] {
        assert_eq!(check(&page(right)), Ok(()));
    }
    for wrong in [
        "<p>",
        "<p></b>",
        "<p>&nbsp;</p>",
        "<p a=b></p>",
        "<p onclick=\"x\"></p>",
        "<p id=\"a\"></p><p id=\"a\"></p>",
        "<path d=\"MNaN 0\"></path>",
        "<script>",
    ] {
        assert!(check(&page(wrong)).is_err(), "{wrong}");
    }
}
