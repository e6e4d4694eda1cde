//! A small check that text is well-formed XML: tags nest, attributes are quoted and unique, the
//! entities are known, the characters are legal.

/// What is wrong with the text; nothing where it is well-formed.
pub(crate) fn check(text: &str) -> Result<(), String> {
    let legal = |letter: char| !matches!(letter, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}');
    if let Some(letter) = text.chars().find(|letter| !legal(*letter)) {
        return Err(format!("illegal character {letter:?}"));
    }
    let mut open: Vec<&str> = Vec::new();
    let mut roots = 0;
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        let before = &rest[..start];
        if open.is_empty() && !before.trim().is_empty() {
            return Err(format!("text outside the root: {before:?}"));
        }
        check_text(before)?;
        let end = rest.find('>').ok_or("a tag without an end")?;
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            if open.pop() != Some(name) {
                return Err(format!("</{name}> closes another tag"));
            }
            continue;
        }
        let (tag, closed) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        if name.is_empty() || !name.chars().all(|letter| letter.is_ascii_alphanumeric()) {
            return Err(format!("<{tag}> has no name"));
        }
        check_attributes(attributes)?;
        roots += usize::from(open.is_empty());
        if !closed {
            open.push(name);
        }
    }
    match (open.is_empty(), roots, rest.trim().is_empty()) {
        (true, 1, true) => Ok(()),
        _ => Err(format!("{roots} roots, {open:?} open, {rest:?} behind")),
    }
}

fn check_attributes(text: &str) -> Result<(), String> {
    let mut names = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (name, value) = rest.split_once("=\"").ok_or(format!("no attribute: {rest:?}"))?;
        let (value, behind) = value.split_once('"').ok_or(format!("no quote: {value:?}"))?;
        if names.contains(&name) || name.contains(|letter: char| letter.is_whitespace()) {
            return Err(format!("attribute {name:?}"));
        }
        names.push(name);
        check_text(value)?;
        if !behind.is_empty() && !behind.starts_with(' ') {
            return Err(format!("no space before {behind:?}"));
        }
        rest = behind.trim_start();
    }
    Ok(())
}

fn check_text(text: &str) -> Result<(), String> {
    for (position, _) in text.match_indices('&') {
        let known = ["&amp;", "&lt;", "&gt;", "&quot;"];
        if !known.iter().any(|entity| text[position..].starts_with(entity)) {
            return Err(format!("entity in {text:?}"));
        }
    }
    if text.contains('<') { Err(format!("bare < in {text:?}")) } else { Ok(()) }
}

#[test]
fn the_check_finds_what_is_wrong() {
    assert_eq!(check("<a><b c=\"1\" d=\"&lt;\"/>x &amp; y</a>\n"), Ok(()));
    for wrong in [
        "",
        "<a>",
        "<a></b>",
        "<a/><b/>",
        "<a>&</a>",
        "<a b=c/>",
        "<a b=\"1\" b=\"2\"/>",
        "x<a/>",
        "<a>\0</a>",
    ] {
        assert!(check(wrong).is_err(), "{wrong:?}");
    }
}
