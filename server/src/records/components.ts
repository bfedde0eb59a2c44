/** Sets that grow together: which of the first `size` numbers belong to one another. */
export type Components = { join(a: number, b: number): void; find(member: number): number }

/** The smallest member stands for its set, so the order of joining makes no difference. */
export function createComponents(size: number): Components {
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

/** For each mention the first one that it shares a key with, directly or through others. */
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
