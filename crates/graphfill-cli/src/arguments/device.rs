//! Where to train: the arguments of every command that does.

use std::fmt;
use std::str::FromStr;

use clap::Args;
use graphfill::engine::cuda::Precision;

/// Where models are trained, and how exactly.
#[derive(Args)]
pub(crate) struct DeviceArguments {
    /// Where to train: auto (an NVIDIA GPU if one can be used, else the CPU), cpu, cuda or cuda:N; see graphfill devices
    #[arg(long, value_name = "DEVICE", default_value_t = DeviceChoice::Auto, env = "GRAPHFILL_DEVICE", help_heading = "Device")]
    pub(crate) device: DeviceChoice,
    /// How exactly a GPU multiplies matrices: f32, tf32 or bf16; everything else, and all of it on the CPU, is f32
    #[arg(long, value_name = "PRECISION", default_value_t = Precision::Tf32, help_heading = "Device")]
    pub(crate) precision: Precision,
}

/// A device as `--device` names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DeviceChoice {
    /// The first GPU if it can be used, else the CPU.
    Auto,
    /// The CPU.
    Cpu,
    /// The GPU of that number.
    Cuda(usize),
}

impl FromStr for DeviceChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("there is no device `{text}`; there are auto, cpu, cuda and cuda:N");
        match text.split_once(':') {
            None if text == "auto" => Ok(DeviceChoice::Auto),
            None if text == "cpu" => Ok(DeviceChoice::Cpu),
            None if text == "cuda" => Ok(DeviceChoice::Cuda(0)),
            // Digits alone: numbers also parse with a sign.
            Some(("cuda", number)) if number.bytes().all(|digit| digit.is_ascii_digit()) => {
                let number = number.parse::<u16>().map_err(|_| wrong())?;
                Ok(DeviceChoice::Cuda(usize::from(number)))
            }
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceChoice::Auto => formatter.write_str("auto"),
            DeviceChoice::Cpu => formatter.write_str("cpu"),
            DeviceChoice::Cuda(number) => write!(formatter, "cuda:{number}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_have_names() {
        for (text, choice) in [
            ("auto", DeviceChoice::Auto),
            ("cpu", DeviceChoice::Cpu),
            ("cuda", DeviceChoice::Cuda(0)),
            ("cuda:0", DeviceChoice::Cuda(0)),
            ("cuda:7", DeviceChoice::Cuda(7)),
        ] {
            assert_eq!(text.parse(), Ok(choice));
            assert_eq!(choice.to_string().parse(), Ok(choice));
        }
        for text in ["", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:+1", "cpu:0", "cuda:99999999"] {
            assert!(text.parse::<DeviceChoice>().is_err(), "{text}");
        }
    }
}
