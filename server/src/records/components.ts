/** Disjoint sets of the first `size` numbers, which can be joined. */
export type Components = { join(a: number, b: number): void; find(member: number): number }

/** Creates the sets. The smallest member represents its set, so the order of joins does not matter. */
function createComponents(size: number): Components {
  const parents = Array.from({ length: size }, (_, member) => member)
  function find(member: number): number {
    let root = member
    for (let parent = parents[root]; parent !== undefined && parent !== root; parent = parents[root]) {
      root = parent
    }
    for (let at = member; at !== root;) {
      const next = parents[at] ?? root
      parents[at] = root
      at = next
    }
    return root
  }
  function join(a: number, b: number): void {
    const [left, right] = [find(a), find(b)]
    parents[Math.max(left, right)] = Math.min(left, right)
  }
  return { join, find }
}

/** Returns for each mention the first mention that shares a key with it, directly or through others. */
export function groupByKeys(mentions: readonly (readonly string[])[]): number[] {
  const components = createComponents(mentions.length)
  const firstWith = new Map<string, number>()
  for (const [at, keys] of mentions.entries()) {
    for (const key of keys) {
      const first = firstWith.get(key)
      if (first === undefined) firstWith.set(key, at)
      else components.join(first, at)
    }
  }
  return mentions.map((_, at) => components.find(at))
}

/**
 * Returns the new root of each root: the first one that the lists join it with, directly or through others. Sets with
 * both members of a separated pair are not joined.
 */
export function joinRoots(
  lists: readonly (readonly string[])[],
  separated: readonly (readonly [string, string])[],
): (root: string) => string {
  const roots = [...new Set(lists.flat())].sort()
  const numbers = new Map(roots.map((root, n) => [root, n]))
  const numberOf = (root: string) => numbers.get(root) ?? -1
  const components = createComponents(roots.length)
  const pairs = separated.map(([a, b]) => [numberOf(a), numberOf(b)] as const)
  const areSeparated = (a: number, b: number) =>
    pairs.some(([low, high]) => {
      const ends = new Set([components.find(low), components.find(high)])
      return ends.has(components.find(a)) && ends.has(components.find(b))
    })
  for (const [first, ...others] of lists) {
    for (const other of others) {
      const [a, b] = [numberOf(first ?? ''), numberOf(other)]
      if (components.find(a) !== components.find(b) && !areSeparated(a, b)) components.join(a, b)
    }
  }
  return (root) => roots[components.find(numberOf(root))] ?? root
}
