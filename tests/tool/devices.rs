//! The list of devices, and `--device`.

use super::support::Place;
use burnrank::device;

#[test]
fn devices_are_listed_and_selected_by_name() {
    let place = Place::new(&[]);
    // Drivers may write to standard error.
    let said = |command: &str| {
        let ran = place.run(command);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        ran.out
    };
    let text = said("devices");
    let auto = device::backends()[0];
    assert!(text.starts_with(&format!("auto is {auto}")), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80 || line.contains("does not work")), "{text}");
    let list: serde_json::Value = serde_json::from_str(&said("devices --json")).expect("JSON");
    let devices = list["devices"].as_array().expect("a list");
    assert_eq!(devices.iter().filter(|one| one["auto"] == true).count(), 1, "{list}");
    for one in devices.iter().filter(|one| one["problem"] == "") {
        let name = one["device"].as_str().expect("a name");
        said(&format!("train --model linear --epochs 1 --objective ranknet --device {name}"));
    }
}

#[test]
fn a_missing_device_is_bad_usage_with_a_remedy() {
    let place = Place::new(&[]);
    for (device, words) in
        [("flex:9", "does not exist"), ("flex:x", "a number after the colon"), ("gpu9", "unknown device")]
    {
        let message = place.run(&format!("train --epochs 1 --device {device}")).bad(2);
        assert!(message.contains(words), "{message}");
    }
}
