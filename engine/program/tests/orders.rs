//! Programs with other memory orders, and with more fences.
mod support;
use program::interpreter::event::EventKind;
use program::ir::orders::NewFence;
use program::ir::{Order, SiteId};
use program::Program;
use support::{fixture, trace};

fn with(program: &Program, orders: &[(SiteId, &str)]) -> Result<Program, String> {
    let changed = program.with_orders(&orders.iter().copied().collect());
    changed.map_err(|error| error.to_string())
}

/// The sites of a kind that have an order to choose.
fn of_kind(program: &Program, kind: &str) -> Vec<SiteId> {
    let orders = program.orders();
    (0..program.sites.len())
        .filter(|site| program.sites[*site].kind == kind && !orders[*site].is_empty())
        .map(|site| site as SiteId)
        .collect()
}

fn fences(program: &Program) -> Vec<Order> {
    let trace = trace(program);
    let events = trace.runs[0].threads.iter().flatten();
    let fences = events.filter(|e| e.event.kind == EventKind::Fence);
    fences.map(|e| e.event.order).collect()
}

#[test]
fn an_order_changes_at_its_site_alone() {
    let program = fixture("sb");
    let loads = of_kind(&program, "R");
    let changed = with(&program, &[(loads[0], "sc")]).expect("a load may be seq_cst");
    let (before, after) = (program.orders(), changed.orders());
    assert_eq!(after[loads[0] as usize], "sc");
    assert_eq!(changed.sites[loads[0] as usize].order, Order::Sc);
    for site in (0..before.len()).filter(|site| *site != loads[0] as usize) {
        assert_eq!(before[site], after[site]);
    }
    let back = &before[loads[0] as usize];
    let restored = with(&changed, &[(loads[0], back)]).expect("as it was");
    assert_eq!(restored.fingerprint(), program.fingerprint());
    assert_ne!(changed.fingerprint(), program.fingerprint());
}

#[test]
fn an_order_that_c_does_not_allow_is_refused_with_those_it_does() {
    let program = fixture("stack");
    for (kind, order, allowed) in [
        ("R", "rel", "rlx, acq or sc"),
        ("CAS", "acq_rel", "success/failure"),
        ("CAS", "acq_rel/rel", "on failure rlx, acq or sc"),
        ("R", "na", "rlx, acq or sc"),
    ] {
        let site = of_kind(&program, kind)[0];
        let message = with(&program, &[(site, order)]).expect_err("no such order");
        assert!(message.contains(allowed), "{message}");
        assert!(message.starts_with("stack.c:"), "{message}");
    }
    let plain = program.orders().iter().position(String::is_empty);
    let plain = plain.expect("a site without an order") as SiteId;
    assert!(with(&program, &[(plain, "sc")]).is_err());
    assert!(with(&program, &[(SiteId::MAX, "sc")]).is_err());
}

#[test]
fn a_fence_goes_and_comes_back() {
    let program = fixture("sb");
    let at = of_kind(&program, "W")[0];
    let (after, order) = (true, "acq_rel");
    let fence = [NewFence { at, after, order }];
    let program = program
        .with_fences(&fence)
        .expect("a fence may stand there");
    let site = program.sites.len() as SiteId - 1;
    let there = fences(&program).len();
    assert_eq!(there, 1);
    let gone = with(&program, &[(site, "none")]).expect("a fence may go");
    assert_eq!(gone.orders()[site as usize], "none");
    assert_eq!(fences(&gone).len(), there - 1);
    let again = with(&gone, &[(site, "sc")]).expect("it may come back");
    assert_eq!(fences(&again).len(), there);
}

#[test]
fn a_new_fence_stands_beside_its_access() {
    let program = fixture("queue");
    for (kind, after) in [("W", false), ("R", true)] {
        let at = of_kind(&program, kind)[0];
        let order = "sc";
        let more = program.with_fences(&[NewFence { at, after, order }]);
        let more = more.expect("a fence may stand there");
        assert_eq!(more.sites.len(), program.sites.len() + 1);
        let traced = trace(&more);
        assert_eq!(traced.runs.len(), trace(&program).runs.len());
        let events = traced.runs.iter().flat_map(|run| &run.threads);
        let mut seen = 0;
        for thread in events {
            for (k, e) in thread
                .iter()
                .enumerate()
                .filter(|(_, e)| e.event.site == at)
            {
                let beside = if after {
                    thread.get(k + 1)
                } else {
                    k.checked_sub(1).map(|k| &thread[k])
                };
                let beside = beside.unwrap_or_else(|| panic!("a fence beside {:?}", e.event));
                assert_eq!(beside.event.kind, EventKind::Fence);
                seen += 1;
            }
        }
        assert!(seen > 0);
    }
}

#[test]
fn a_fence_may_be_one_of_the_kernels_but_half_a_section_is_none() {
    let program = fixture("sb");
    let at = of_kind(&program, "W")[0];
    for order in ["rmb", "wmb", "before-atomic", "sync-rcu"] {
        let after = true;
        let fence = [NewFence { at, after, order }];
        let program = program.with_fences(&fence).expect("a fence of the kernel");
        let site = program.sites.len() as SiteId - 1;
        assert_eq!(program.orders()[site as usize], order);
        let full = with(&program, &[(site, "sc")]).expect("a full fence in its place");
        let again = with(&full, &[(site, order)]).expect("it may come back");
        assert_eq!(again.fingerprint(), program.fingerprint());
        for half in ["rcu-lock", "rcu-unlock", "barrier", "lock"] {
            let message = with(&program, &[(site, half)]).expect_err("no fence by itself");
            assert!(message.contains("the Linux kernel's"), "{message}");
        }
    }
}
