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
