//! Where the buffers of one program lie.
//!
//! First each value gets a room: its own, or, where an operation may work in place, that of an input
//! that dies with it. Then rooms get places, the largest first, each at the lowest offset where it
//! meets no room that lives at the same time.

use super::lifetimes::{Life, lifetimes};
use super::order::order;
use super::{ALIGNMENT, Buffer, DeviceProfile, Place, PlannedProgram, Step};
use crate::program::{Node, Recorded, Recording, Source, ValueId};

#[derive(Debug, Clone, Copy)]
struct Room {
    len: usize,
    life: Life,
}

/// Where a value is kept.
#[derive(Debug, Clone, Copy)]
enum Home {
    /// In the named buffer of that index.
    Buffer(usize),
    /// In the room of that index.
    Room(usize),
    /// Nobody reads it.
    None,
}

/// Whether values may share memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sharing {
    /// Where their lives don't overlap.
    Allowed,
    /// Where an operation works in place. Whatever else doesn't need each other's numbers doesn't
    /// need each other's memory either, and may be computed side by side.
    InPlace,
    /// Never: what the tests compare with.
    #[cfg(test)]
    Never,
}

/// The planned program, and where its last room ends.
pub(super) fn arrange(
    program: &Recorded,
    buffers: &[Buffer],
    begin: usize,
    sharing: Sharing,
    profile: &DeviceProfile,
) -> (PlannedProgram, usize) {
    let Recorded { name, recording } = program;
    let order = order(recording);
    let (homes, mut rooms) = assign_rooms(recording, &order, buffers, sharing);
    let scratch: Vec<usize> = order
        .iter()
        .enumerate()
        .map(|(at, &node)| {
            let node = &recording.nodes[node];
            let (inputs, wanted) = (shapes(recording, &node.inputs), wanted(node, &homes));
            let len = (profile.scratch)(&*node.operation, &inputs, &wanted);
            rooms.push(Room { len, life: Life { from: at, until: at } });
            rooms.len() - 1
        })
        .collect();
    if sharing != Sharing::Allowed {
        let always = Life { from: 0, until: order.len() };
        rooms.iter_mut().for_each(|room| room.life = always);
    }
    let (places, end) = place_rooms(&rooms, begin);
    let place = |value: &ValueId| {
        let len = recording.values[value.0].shape.len();
        match homes[value.0] {
            Home::Buffer(buffer) => Some(buffers[buffer].place),
            Home::Room(room) => Some(Place { len, ..places[room] }),
            Home::None => None,
        }
    };
    let step = |(&node, &scratch): (&usize, &usize)| {
        let node = &recording.nodes[node];
        Step {
            operation: node.operation.clone(),
            inputs: node.inputs.iter().map(|input| place(input).unwrap_or_default()).collect(),
            input_shapes: shapes(recording, &node.inputs),
            outputs: node.outputs.iter().map(&place).collect(),
            output_shapes: shapes(recording, &node.outputs),
            scratch: places[scratch],
            place: node.place,
        }
    };
    let steps = order.iter().zip(&scratch).map(step).collect();
    let output = |(name, value): &(String, ValueId)| {
        let place = place(value).unwrap_or_default();
        (name.clone(), place, recording.values[value.0].shape)
    };
    let outputs = recording.outputs.iter().map(output).collect();
    let position = |name: &str| buffers.iter().position(|buffer| buffer.name == name);
    let used = recording.named.iter().filter_map(|named| position(&named.name)).collect();
    (PlannedProgram { name: name.clone(), steps, outputs, used }, end)
}

fn shapes(recording: &Recording, values: &[ValueId]) -> Vec<crate::Shape> {
    values.iter().map(|value| recording.values[value.0].shape).collect()
}

fn wanted(node: &Node, homes: &[Home]) -> Vec<bool> {
    node.outputs.iter().map(|output| !matches!(homes[output.0], Home::None)).collect()
}

fn assign_rooms(
    recording: &Recording,
    order: &[usize],
    buffers: &[Buffer],
    sharing: Sharing,
) -> (Vec<Home>, Vec<Room>) {
    let lives = lifetimes(recording, order);
    let mut homes = vec![Home::None; recording.values.len()];
    let mut rooms: Vec<Room> = Vec::new();
    for named in &recording.named {
        let position = buffers.iter().position(|buffer| buffer.name == named.name);
        homes[named.value.0] = position.map_or(Home::None, Home::Buffer);
    }
    for (position, &node) in order.iter().enumerate() {
        let node = &recording.nodes[node];
        for (index, output) in node.outputs.iter().enumerate() {
            if let Some((_, buffer)) = node.updates.iter().find(|(updated, _)| updated == output) {
                homes[output.0] = homes[recording.named[*buffer].value.0];
                continue;
            }
            let Some(life) = lives[output.0] else { continue };
            let candidates = node.operation.in_place().iter().filter_map(|&(to, from)| {
                let dying = dying_input(recording, node, from, &lives, position)?;
                let Home::Room(room) = homes[dying.0] else { return None };
                let taken = node.outputs[..index]
                    .iter()
                    .any(|other| matches!(homes[other.0], Home::Room(other) if other == room));
                let same = recording.values[dying.0].shape == recording.values[output.0].shape;
                let may = matches!(sharing, Sharing::Allowed | Sharing::InPlace);
                let born = lives[dying.0].map(|life| life.from);
                (may && to == index && same && !taken).then_some((born, room))
            });
            // Over the one that was computed last, which may still be at hand.
            let shared = candidates.max_by_key(|(born, _)| *born).map(|(_, room)| room);
            match shared {
                Some(room) => {
                    rooms[room].life.until = life.until;
                    homes[output.0] = Home::Room(room);
                }
                None => {
                    rooms.push(Room { len: recording.values[output.0].shape.len(), life });
                    homes[output.0] = Home::Room(rooms.len() - 1);
                }
            }
        }
    }
    (homes, rooms)
}

/// An input that nobody reads after this node, nor twice in it.
fn dying_input(
    recording: &Recording,
    node: &Node,
    input: usize,
    lives: &[Option<Life>],
    position: usize,
) -> Option<ValueId> {
    let value = *node.inputs.get(input)?;
    let transient = matches!(recording.values[value.0].source, Source::Node(_));
    let once = node.inputs.iter().filter(|&&other| other == value).count() == 1;
    let dies = lives[value.0].is_some_and(|life| life.until == position);
    (transient && once && dies).then_some(value)
}

/// The places of rooms, and where the last one ends.
fn place_rooms(rooms: &[Room], begin: usize) -> (Vec<Place>, usize) {
    let mut by_size: Vec<usize> = (0..rooms.len()).collect();
    by_size.sort_by_key(|&room| (std::cmp::Reverse(rooms[room].len), rooms[room].life.from));
    let mut places = vec![Place::default(); rooms.len()];
    let mut placed: Vec<usize> = Vec::new();
    let mut end = begin;
    for room in by_size {
        let len = rooms[room].len.next_multiple_of(ALIGNMENT);
        let mut offset = begin;
        // `placed` is ordered by offset: the first gap that is wide enough wins.
        for &other in &placed {
            if rooms[other].life.overlaps(rooms[room].life) {
                if offset + len <= places[other].offset {
                    break;
                }
                let other_end =
                    places[other].offset + places[other].len.next_multiple_of(ALIGNMENT);
                offset = offset.max(other_end);
            }
        }
        places[room] = Place { offset, len: rooms[room].len };
        end = end.max(offset + len);
        let at = placed.partition_point(|&other| places[other].offset <= offset);
        placed.insert(at, room);
    }
    (places, end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rooms_that_live_together_do_not_meet(
            rooms in prop::collection::vec((0usize..200, 0usize..20, 0usize..8), 0..40),
        ) {
            let rooms: Vec<Room> = rooms
                .into_iter()
                .map(|(len, from, span)| Room { len, life: Life { from, until: from + span } })
                .collect();
            let (places, end) = place_rooms(&rooms, 32);
            for (one, room) in rooms.iter().enumerate() {
                prop_assert!(places[one].offset >= 32 && places[one].offset + room.len <= end);
                prop_assert_eq!(places[one].offset % ALIGNMENT, 0);
                for (other, second) in rooms.iter().enumerate().skip(one + 1) {
                    let apart = places[one].offset + room.len <= places[other].offset
                        || places[other].offset + second.len <= places[one].offset;
                    prop_assert!(apart || !room.life.overlaps(second.life));
                }
            }
        }
    }

    #[test]
    fn rooms_that_follow_each_other_share_a_place() {
        let room = |from, until| Room { len: 100, life: Life { from, until } };
        let (places, end) = place_rooms(&[room(0, 1), room(1, 2), room(2, 3)], 0);
        assert_eq!(places[0], places[2]);
        assert_eq!(end, 224);
    }
}
