/** The part of a parsed page's node that walks need. */
export type TreeNode = {
  type: string
  name?: string
  data?: string
  attribs?: Record<string, string>
  parent?: TreeNode | null
  children?: TreeNode[]
}

/**
 * Yields a node and the nodes below it, in the order of the page. `enters` decides if the children of a node are visited.
 */
export function* walk(
  root: TreeNode,
  enters: (node: TreeNode) => boolean = () => true,
): Generator<TreeNode, void> {
  const stack = [root]
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    yield node
    if (!enters(node)) continue
    for (let n = (node.children?.length ?? 0) - 1; n >= 0; n -= 1) stack.push(node.children?.[n] as TreeNode)
  }
}

/** The elements of a page by name. On a small page this is faster than a selector. */
export type Elements = {
  /** The elements in the order of the page. */
  all: readonly TreeNode[]
  /** Returns the elements with one of these names, in the order of the page. */
  named(...names: string[]): readonly TreeNode[]
  /** The number of levels below the root. */
  depth: number
}

/** Indexes the elements of a page by name, in one walk. The tree may be of any depth. */
export function indexElements(root: TreeNode): Elements {
  const all: TreeNode[] = []
  const byName = new Map<string, TreeNode[]>()
  const stack = [root]
  const levels = [0]
  let depth = 0
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    const level = levels.pop() ?? 0
    if (node.name !== undefined && node.attribs !== undefined) {
      all.push(node)
      const same = byName.get(node.name)
      if (same === undefined) byName.set(node.name, [node])
      else same.push(node)
    }
    const children = node.children ?? []
    if (children.length > 0 && level >= depth) depth = level + 1
    for (let n = children.length - 1; n >= 0; n -= 1) {
      const child = children[n]
      if (child?.children === undefined) continue
      stack.push(child)
      levels.push(level + 1)
    }
  }
  return {
    all,
    depth,
    named(...names) {
      const [first, ...others] = names.filter((name) => byName.has(name))
      if (first === undefined) return []
      return others.length === 0
        ? (byName.get(first) ?? [])
        : all.filter(({ name }) => names.includes(name ?? ''))
    },
  }
}

/**
 * Returns the text of an element, up to a maximum length, with `mark` before each element whose name matches `marked`.
 */
export function textOf(root: TreeNode, maxLength: number, mark = '', marked = /^$/): string {
  let text = ''
  for (const node of walk(root)) {
    if (text.length >= maxLength) break
    if (node.type === 'text') text += node.data ?? ''
    else if (node !== root && mark !== '' && marked.test(node.name ?? '')) text += mark
  }
  return text.slice(0, maxLength)
}
