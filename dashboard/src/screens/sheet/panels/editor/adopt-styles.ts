import { EditorView } from '@codemirror/view'

let isAdopted = false

/**
 * Lets editors add their styles as constructed style sheets, because the content security policy forbids the style
 * elements that they add by default. An editor below a shadow root uses such a sheet; the document then gets the same one.
 */
export function adoptEditorStyles(): void {
  if (isAdopted) return
  isAdopted = true
  const root = document.createElement('div').attachShadow({ mode: 'open' })
  new EditorView({ root }).destroy()
  for (const symbol of Object.getOwnPropertySymbols(root)) {
    Reflect.set(document, symbol, Reflect.get(root, symbol))
  }
}
