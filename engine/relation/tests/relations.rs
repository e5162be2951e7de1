//! Sets and relations agree with naive definitions, for up to 64 events and for more.
use proptest::prelude::*;
use relation::{rows, Relation, Set};
use std::collections::BTreeSet;

type Pairs = BTreeSet<(usize, usize)>;

fn sizes() -> impl Strategy<Value = usize> {
    prop_oneof![
        1usize..12,
        60usize..70,
        120usize..140,
        190usize..200,
        250usize..270,
        330usize..350
    ]
}

prop_compose! {
    fn pairs(n: usize, most: usize)(pairs in prop::collection::btree_set((0..n, 0..n), 0..most)) -> Pairs { pairs }
}

fn two() -> impl Strategy<Value = (usize, Pairs, Pairs, BTreeSet<usize>)> {
    sizes().prop_flat_map(|n| {
        (
            Just(n),
            pairs(n, 40),
            pairs(n, 40),
            prop::collection::btree_set(0..n, 0..n),
        )
    })
}

fn relation(n: usize, pairs: &Pairs) -> Relation {
    Relation::of(n, pairs.iter().copied())
}

fn listed(relation: &Relation) -> Pairs {
    relation.iter().collect()
}

fn composed(a: &Pairs, b: &Pairs) -> Pairs {
    let steps = a.iter().flat_map(|(x, y)| {
        b.iter()
            .filter(move |(z, _)| z == y)
            .map(move |(_, w)| (*x, *w))
    });
    steps.collect()
}

fn closed(a: &Pairs) -> Pairs {
    let mut all = a.clone();
    loop {
        let more: Pairs = all.union(&composed(&all, &all)).copied().collect();
        if more == all {
            return all;
        }
        all = more;
    }
}

proptest! {
    #[test]
    fn operations((n, a, b, s) in two()) {
        let (ra, rb) = (relation(n, &a), relation(n, &b));
        let set = Set::of(n, s.iter().copied());
        prop_assert_eq!(listed(&ra), a.clone());
        prop_assert_eq!(ra.count(), a.len());
        prop_assert_eq!(listed(&ra.union(&rb)), a.union(&b).copied().collect::<Pairs>());
        prop_assert_eq!(listed(&ra.intersection(&rb)), a.intersection(&b).copied().collect::<Pairs>());
        prop_assert_eq!(listed(&ra.difference(&rb)), a.difference(&b).copied().collect::<Pairs>());
        prop_assert_eq!(listed(&ra.sequence(&rb)), composed(&a, &b));
        let irreflexive = composed(&a, &b).iter().all(|(x, y)| x != y);
        prop_assert_eq!(rows::is_sequence_irreflexive(rows::stride(n), ra.rows(), rb.rows()), irreflexive);
        prop_assert_eq!(listed(&Relation::full(n)).len(), n * n);
        prop_assert_eq!(listed(&ra.inverse()), a.iter().map(|(x, y)| (*y, *x)).collect::<Pairs>());
        let complement = ra.complement();
        prop_assert_eq!(complement.count(), n * n - a.len());
        prop_assert!(complement.intersection(&ra).is_empty());
        prop_assert_eq!(listed(&ra.restrict_domain(&set)), a.iter().filter(|(x, _)| s.contains(x)).copied().collect::<Pairs>());
        prop_assert_eq!(listed(&ra.restrict_range(&set)), a.iter().filter(|(_, y)| s.contains(y)).copied().collect::<Pairs>());
        let mut restricted = vec![0; ra.rows().len()];
        let mut words = vec![0; rows::stride(n)];
        set.write(&mut words);
        rows::restrict(rows::stride(n), Some(&words), ra.rows(), Some(&words), &mut restricted);
        prop_assert_eq!(listed(&Relation::from_rows(n, &restricted)), a.iter().filter(|(x, y)| s.contains(x) && s.contains(y)).copied().collect::<Pairs>());
        prop_assert_eq!(ra.domain().iter().collect::<BTreeSet<_>>(), a.iter().map(|(x, _)| *x).collect::<BTreeSet<_>>());
        prop_assert_eq!(ra.range().iter().collect::<BTreeSet<_>>(), a.iter().map(|(_, y)| *y).collect::<BTreeSet<_>>());
        prop_assert_eq!(ra.is_subset(&rb), a.is_subset(&b));
        prop_assert_eq!(ra.is_empty(), a.is_empty());
        let product = Relation::product(&set, &ra.domain());
        prop_assert_eq!(product.count(), s.len() * ra.domain().count());
        prop_assert_eq!(set.complement().count(), n - s.len());
        prop_assert_eq!(set.iter().collect::<BTreeSet<_>>(), s.clone());
    }

    #[test]
    fn inverses_of_many_pairs(n in sizes(), pattern in any::<u64>(), step in 1usize..7) {
        let is_pair = |x: usize, y: usize| pattern.rotate_left((x * step + y) as u32 % 64) & 5 != 0;
        let pairs = (0..n).flat_map(|x| (0..n).map(move |y| (x, y)));
        let all: Pairs = pairs.filter(|(x, y)| is_pair(*x, *y)).collect();
        let inverse: Pairs = all.iter().map(|(x, y)| (*y, *x)).collect();
        prop_assert_eq!(listed(&relation(n, &all).inverse()), inverse);
    }

    #[test]
    fn closures_and_cycles((n, a, b, _) in two()) {
        let (r, b) = (relation(n, &a), relation(n, &b));
        let all = closed(&a);
        prop_assert_eq!(listed(&r.closure()), all.clone());
        let acyclic = all.iter().all(|(x, y)| x != y);
        prop_assert_eq!(r.is_acyclic(), acyclic);
        prop_assert_eq!(r.is_irreflexive(), a.iter().all(|(x, y)| x != y));
        let cycle = r.cycle();
        prop_assert_eq!(cycle.is_none(), acyclic);
        if let Some(cycle) = cycle {
            for (place, event) in cycle.iter().enumerate() {
                prop_assert!(r.contains(*event, cycle[(place + 1) % cycle.len()]));
            }
            prop_assert_eq!(cycle.iter().collect::<BTreeSet<_>>().len(), cycle.len());
        }
        let mut sequence = vec![0; r.rows().len()];
        rows::sequence_with_transitive(rows::stride(n), b.rows(), r.closure().rows(), &mut sequence);
        prop_assert_eq!(listed(&Relation::from_rows(n, &sequence)), composed(&listed(&b), &all));
        let mut reflexive = all;
        reflexive.extend((0..n).map(|x| (x, x)));
        prop_assert_eq!(listed(&r.reflexive_closure()), reflexive);
    }

    #[test]
    fn acyclic_closures(
        (n, edges) in sizes().prop_flat_map(|n| (Just(n), prop::collection::vec((0..n, 1..n + 1), 0..150))),
        mirrored in any::<bool>(),
    ) {
        let forward = edges.into_iter().filter(|(x, step)| x + step < n).map(|(x, step)| (x, x + step));
        let edges: Pairs = match mirrored {
            true => forward.map(|(x, y)| (n - 1 - x, n - 1 - y)).collect(),
            false => forward.collect(),
        };
        let r = relation(n, &edges);
        prop_assert!(r.is_acyclic());
        prop_assert_eq!(listed(&r.closure()), closed(&edges));
    }

    #[test]
    fn linear_extensions(n in 1usize..6, seed in prop::collection::btree_set((0usize..6, 0usize..6), 0..5), chosen in 0u8..64) {
        let edges: Pairs = seed.into_iter().filter(|(x, y)| *x < n && *y < n).collect();
        let r = relation(n, &edges);
        let items: Vec<usize> = (0..n).filter(|item| chosen >> item & 1 == 1).collect();
        let set = Set::of(n, items.iter().copied());
        let mut expected = BTreeSet::new();
        permute(&mut items.clone(), 0, &mut |order| {
            let total: Pairs = (0..order.len())
                .flat_map(|i| (i + 1..order.len()).map(move |j| (i, j)))
                .map(|(i, j)| (order[i], order[j]))
                .collect();
            let among = edges.iter().filter(|(x, y)| set.contains(*x) && set.contains(*y));
            if among.into_iter().all(|pair| total.contains(pair)) {
                expected.insert(total);
            }
        });
        let found: Vec<Pairs> = r.linear_extensions(&set).map(|order| listed(&order)).collect();
        prop_assert_eq!(found.len(), expected.len());
        prop_assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), expected);
    }
}

fn permute(items: &mut Vec<usize>, from: usize, each: &mut impl FnMut(&[usize])) {
    if from + 1 >= items.len() {
        each(items);
        return;
    }
    for place in from..items.len() {
        items.swap(from, place);
        permute(items, from + 1, each);
        items.swap(from, place);
    }
}
