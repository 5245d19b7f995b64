//! The items of arrays.

use super::{Pair, Scope, Walk, path::Path};

impl<'a> Walk<'a> {
    /// Describes changes of the schemas of items.
    pub(super) fn describe_items(&mut self, pair: Pair<'_, 'a>, scope: Scope<'_>) {
        let [old, new] = [pair.old, pair.new].map(|part| part.view.first_item_count());
        let first = old.max(new);
        for index in 0..first {
            let path = Path::Item(scope.path, index);
            self.describe_item(pair, index, &path, scope);
        }
        // All further ones have the same schemas.
        self.describe_item(pair, first, &Path::Items(scope.path), scope);
    }

    fn describe_item(
        &mut self,
        pair: Pair<'_, 'a>,
        index: usize,
        path: &Path<'_>,
        scope: Scope<'_>,
    ) {
        let [old, new] = [pair.old, pair.new].map(|part| {
            let nodes = self.prover.item(&part.view, index);
            let is_described = !nodes.is_empty();
            (self.part(&nodes, part.place), is_described)
        });
        if old.1 || new.1 {
            let pair = Pair {
                old: &old.0,
                new: &new.0,
            };
            self.describe(pair, path, scope);
        }
    }
}
