/** As much of a parsed page as walks over it need. */
export type TreeNode = {
  type: string
  name?: string
  data?: string
  attribs?: Record<string, string>
  parent?: TreeNode | null
  children?: TreeNode[]
}

/** Yields nodes below this one, and it, in the order of the page; `enters` says below which to go on. */
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

/** Finds elements of a page by their names without a selector, which takes longer than a walk over a small page. */
export type Elements = {
  /** All of them, in the order of the page. */
  all: readonly TreeNode[]
  /** Lists those with one of these names, in the order of the page. */
  named(...names: string[]): readonly TreeNode[]
}

/** Walks a page once and keeps its elements by their names. */
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

/** Returns the text of an element up to so many characters, with `mark` in front of elements with these names. */
export function textOf(root: TreeNode, most: number, mark = '', marked = /^$/): string {
  let text = ''
  for (const node of walk(root)) {
    if (text.length >= most) break
    if (node.type === 'text') text += node.data ?? ''
    else if (node !== root && mark !== '' && marked.test(node.name ?? '')) text += mark
  }
  return text.slice(0, most)
}
