//! Report pages: well-formed, escaped, small, self-contained, the same for the same input.

mod any_page;
mod evaluations;
mod html;
mod pages;
mod samples;
