import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import {
  Annotation,
  Compartment,
  EditorState,
  type Extension,
  Prec,
  RangeSet,
  StateEffect,
  StateField,
} from '@codemirror/state'
import { Decoration, type DecorationSet, EditorView, keymap, placeholder } from '@codemirror/view'
import { adoptEditorStyles } from './adopt-styles.ts'
import { chips, type Describe, setDescribe } from './chips.ts'

export type EditorMode = 'text' | 'prompt' | 'formula' | 'json'

/** Marks a change that comes from outside, so that it is not reported back as typed. */
const External = Annotation.define<boolean>()

/** A place in the text that is underlined as wrong. */
type Fault = { from: number; to: number }
const setFault = StateEffect.define<Fault | null>()

const faults = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, { docChanged, effects, newDoc }) {
    const effect = effects.find((one) => one.is(setFault))
    if (effect === undefined) return docChanged ? Decoration.none : marks
    const fault = effect.value
    const to = Math.min(fault?.to ?? 0, newDoc.length)
    if (fault === null || fault.from >= to) return Decoration.none
    return RangeSet.of(Decoration.mark({ class: 'cm-fault' }).range(fault.from, to))
  },
  provide: (self) => EditorView.decorations.from(self),
})

const THEME = EditorView.theme({
  '&': { backgroundColor: 'transparent', color: 'var(--color-text)', width: '100%' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'inherit', lineHeight: '20px', overflow: 'auto' },
  '.cm-content': { padding: '5px 0', caretColor: 'var(--color-text)' },
  '.cm-line': { padding: '0 8px' },
  '.cm-placeholder': { color: 'var(--color-muted)' },
  '.cm-fault': { textDecoration: 'underline wavy var(--color-failed)', textUnderlineOffset: '3px' },
})
const TALL = EditorView.theme({
  '.cm-scroller': { maxHeight: '320px' },
  '.cm-content': { minHeight: '62px' },
})
const ONE_LINE = EditorView.theme({ '.cm-scroller': { maxHeight: '140px' } })
const CODE = EditorView.theme({ '.cm-scroller': { fontFamily: 'var(--font-mono)', fontSize: '12px' } })

export type EditorOptions = {
  mode: EditorMode
  text: string
  hint: string
  describe: Describe
  onChange: (text: string) => void
  /** Runs after each change of the text or the caret. */
  onMove: (view: EditorView, isTyped: boolean) => void
  /** Returns true if the open list takes the key. */
  onKey: (key: string) => boolean
  onBlur: () => void
}

/** An editor of one text, whose tokens are chips. */
export type TokenView = {
  view: EditorView
  setText: (text: string) => void
  setDescribe: (describe: Describe) => void
  setAttributes: (attributes: Record<string, string>) => void
  setFault: (fault: Fault | null) => void
}

const LIST_KEYS = ['ArrowDown', 'ArrowUp', 'Enter', 'Tab', 'Escape']

export function createTokenView(parent: HTMLElement, options: EditorOptions): TokenView {
  adoptEditorStyles()
  const attributes = new Compartment()
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: options.text,
      extensions: [extensionsOf(options), attributes.of([])],
    }),
  })
  return {
    view,
    setText(text) {
      if (text === view.state.sliceDoc()) return
      view.dispatch({
        changes: { from: 0, to: view.state.doc.length, insert: text },
        annotations: External.of(true),
      })
    },
    setDescribe: (describe) => view.dispatch({ effects: setDescribe.of(describe) }),
    setAttributes: (given) =>
      view.dispatch({ effects: attributes.reconfigure(EditorView.contentAttributes.of(given)) }),
    setFault: (fault) => view.dispatch({ effects: setFault.of(fault) }),
  }
}

function extensionsOf({ mode, hint, describe, onChange, onMove, onKey, onBlur }: EditorOptions): Extension {
  const isOneLine = mode === 'text'
  return [
    // Lines end with \n only, so that other endings stay in the text as they are.
    EditorState.lineSeparator.of('\n'),
    Prec.highest(keymap.of(LIST_KEYS.map((key) => ({ key, run: () => onKey(key) })))),
    isOneLine ? keymap.of([{ key: 'Enter', run: () => true }]) : [],
    history(),
    keymap.of([...historyKeymap, ...defaultKeymap]),
    chips(describe),
    faults,
    EditorView.lineWrapping,
    placeholder(hint),
    // The first of several themes counts.
    mode === 'formula' || mode === 'json' ? CODE : [],
    isOneLine ? ONE_LINE : TALL,
    THEME,
    EditorView.clipboardInputFilter.of((text) =>
      text.replaceAll(/\r\n?/g, '\n').replaceAll('\n', isOneLine ? ' ' : '\n'),
    ),
    EditorView.updateListener.of(({ view, docChanged, selectionSet, transactions }) => {
      const isExternal = transactions.some((one) => one.annotation(External) === true)
      if (docChanged && !isExternal) onChange(view.state.sliceDoc())
      if (docChanged || selectionSet) onMove(view, docChanged && !isExternal)
    }),
    EditorView.domEventHandlers({ blur: onBlur }),
  ]
}

/**
 * Replaces what was typed by a token or a function, and puts the caret behind it, or into its brackets. With `isSpaced`, a
 * blank parts a token from the one right before it.
 */
export function insertText(
  view: EditorView,
  inserted: string,
  { from, to }: { from: number; to: number },
  isSpaced = false,
): void {
  const follows = isSpaced && view.state.sliceDoc(Math.max(0, from - 2), from) === '}}'
  const text = follows ? ` ${inserted}` : inserted
  const rest = view.state.sliceDoc(to, to + 10)
  const closing = text.endsWith('}}') ? (/^\s*\}\}/.exec(rest)?.[0].length ?? 0) : 0
  const caret = from + text.length - (text.endsWith('()') && text !== '.trim()' ? 1 : 0)
  view.dispatch({
    changes: { from, to: to + closing, insert: text },
    selection: { anchor: caret },
    userEvent: 'input.complete',
    scrollIntoView: true,
  })
  view.focus()
}
