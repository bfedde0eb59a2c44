const [OPEN, CLOSE] = ['<think>', '</think>']

/** Removes a model's thoughts from its answer. Only some servers do this themselves. */
export function withoutThoughts(text: string): string {
  const parts: string[] = []
  let from = 0
  for (;;) {
    const open = text.indexOf(OPEN, from)
    // A thought without an end is not searched for again: many of them would take quadratic time.
    const close = open < 0 ? -1 : text.indexOf(CLOSE, open + OPEN.length)
    if (close < 0) break
    parts.push(text.slice(from, open))
    from = close + CLOSE.length
  }
  if (from === 0) return text
  return [...parts, text.slice(from)].filter((part) => part !== '').join('\n')
}
