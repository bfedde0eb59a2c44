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
}

/** Indexes the elements of a page by name, in one walk. */
export function indexElements(root: TreeNode): Elements {
  const all: TreeNode[] = []
  const byName = new Map<string, TreeNode[]>()
  for (const node of walk(root)) {
    if (node.name === undefined || node.attribs === undefined) continue
    all.push(node)
    const same = byName.get(node.name)
    if (same === undefined) byName.set(node.name, [node])
    else same.push(node)
  }
  return {
    all,
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
