import type { Page } from 'playwright-core'

/** The texts that screens must not show, with what is wrong about them. */
const UNFIT: readonly (readonly [string, RegExp])[] = [
  ['an id', /\b[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}\b/i],
  ['an id', /\b(?=[a-z0-9]*\d)(?=[a-z0-9]*[a-z])[a-zA-Z0-9]{32,}\b/],
  ['a code', /\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b/],
  ['JSON', /[{[]\s*"[^"]*"\s*[:,\]]|\{\s*\}|\[\s*\{/],
  ['a token', /\{\{|\}\}/],
  ['a plural of one', /(?<![\d.,])1 (?!(?:is|has|was|less|across|this|s)\b)[a-z]+(?<!s)s\b/],
  ['a value of the program', /\bundefined\b|\bNaN\b|\[object \w+\]/],
]

/** Collects visible texts. Fields of people and what a screen shows as code on purpose (`code`, `pre`) are left out. */
const READ_TEXTS = `(() => {
  const skipped = 'pre, code, textarea, [contenteditable], .cm-editor, script, style'
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_ELEMENT)
  const texts = []
  for (let element = walker.currentNode; element !== null; element = walker.nextNode()) {
    if (!(element instanceof HTMLElement) || element.closest(skipped) !== null) continue
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '')
    if (own && element.checkVisibility())
      texts.push(element.innerText)
  }
  return texts
})()`

/** Returns the visible texts of a page that are not for people. */
export async function findUnfitTexts(page: Page): Promise<string[]> {
  const texts: string[] = await page.evaluate(READ_TEXTS)
  return [...new Set(texts)].flatMap((text) =>
    UNFIT.filter(([, pattern]) => pattern.test(text)).map(([what]) => `${what}: ${text.slice(0, 200)}`),
  )
}
