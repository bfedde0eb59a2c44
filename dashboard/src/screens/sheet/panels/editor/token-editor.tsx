import type { EditorView } from '@codemirror/view'
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { classNames } from '../../../../ui/class-names.ts'
import { Options } from '../../../../ui/combobox.tsx'
import { CONTROL } from '../../../../ui/text-field.tsx'
import { describeToken, listReferences, type Reference, searchReferences } from '../../references.ts'
import { createTokenView, type EditorMode, insertText, type TokenView } from './editor-view.ts'
import { type FormulaWord, findWords } from './formula-words.ts'
import { findQuery, type Query } from './open-query.ts'
import { arrowStep, ReferenceOption, ReferencePicker } from './reference-list.tsx'
import { useSight } from './sight.ts'

type Props = {
  /** The id of the element with the label, or the label itself where none is visible. */
  labelledBy?: string | undefined
  label?: string | undefined
  describedBy?: string | undefined
  /** The name of the field in the API. */
  field?: string | undefined
  value: string
  onChange: (value: string) => void
  mode?: EditorMode
  hint?: string
  isInvalid?: boolean
  /** Set if a column that is inserted right behind another one is parted from it by a blank. */
  isSpaced?: boolean
  /** The place that is underlined as wrong. */
  fault?: { from: number; to: number } | null
  /** Set while the button beside the label has the list of columns open. */
  isPicking?: boolean
  onPicked?: () => void
}

/** A text field in which references are chips. `{{` and `/` list the columns; a formula also lists functions. */
export function TokenEditor(props: Props) {
  const { value, mode, isInvalid = false, isSpaced = false, fault, isPicking = false, onPicked } = props
  const sight = useSight()
  const host = useRef<HTMLDivElement>(null)
  const editor = useRef<TokenView | null>(null)
  const listId = useId()
  const list = useReferenceList(mode === 'formula', isSpaced)
  const { found, active, query } = list
  const latest = useRef({ props, list, sight })
  useLayoutEffect(() => {
    latest.current = { props, list, sight }
  })

  useEffect(() => {
    if (host.current === null) return undefined
    const { value, hint = '', mode = 'text' } = latest.current.props
    const made = createTokenView(host.current, {
      mode,
      text: value,
      hint,
      describe: (content) => describeToken(content, latest.current.sight),
      onChange: (text) => latest.current.props.onChange(text),
      onMove: (view, isTyped) => latest.current.list.follow(view, isTyped),
      onKey: (key) => latest.current.list.press(key, made.view),
      onBlur: () => latest.current.list.close(),
    })
    editor.current = made
    return () => made.view.destroy()
  }, [])

  useEffect(() => editor.current?.setText(value), [value])
  useEffect(() => editor.current?.setDescribe((content) => describeToken(content, sight)), [sight])
  useEffect(() => editor.current?.setFault(fault ?? null), [fault, value])
  const choose = ({ token }: Reference) => {
    const view = editor.current?.view
    if (view !== undefined) insertText(view, token, view.state.selection.main, isSpaced)
    onPicked?.()
  }
  const closePicker = () => {
    onPicked?.()
    editor.current?.view.focus()
  }
  const activeOption = found.length === 0 ? '' : `${listId}-${active}`
  useAttributes(editor, attributesOf(props, found.length === 0 ? '' : listId, activeOption))
  return (
    <>
      <div
        ref={host}
        className={classNames(
          CONTROL,
          'flex min-h-8 cursor-text bg-bg! px-0! has-[.cm-focused]:outline-2 has-[.cm-focused]:outline-offset-1 has-[.cm-focused]:outline-focus',
          isInvalid && 'border-failed!',
        )}
        onClick={({ target, currentTarget }) => {
          if (target === currentTarget) editor.current?.view.focus()
        }}
      />
      {query !== null && found.length > 0 && (
        <Options id={listId} label="References" anchor={host.current}>
          {found.map((reference, place) => (
            <ReferenceOption
              key={`${reference.token} ${reference.label}`}
              id={`${listId}-${place}`}
              reference={reference}
              isActive={place === active}
              onChoose={() => editor.current !== null && list.choose(reference, editor.current.view)}
            />
          ))}
        </Options>
      )}
      {isPicking && <ReferencePicker anchor={host.current} onChoose={choose} onClose={closePicker} />}
    </>
  )
}

/** Sets the attributes of the text field, given as JSON. */
function useAttributes(editor: { readonly current: TokenView | null }, attributes: string): void {
  useEffect(() => editor.current?.setAttributes(JSON.parse(attributes)), [editor, attributes])
}

/** Returns the attributes of the text field as JSON, so that equal ones are not set again. */
function attributesOf(
  { labelledBy, label, describedBy, field, mode, isInvalid }: Props,
  listId: string,
  activeOption: string,
): string {
  const given: Record<string, string | undefined> = {
    'aria-labelledby': labelledBy,
    'aria-label': label,
    'aria-describedby': describedBy,
    'aria-multiline': mode === undefined || mode === 'text' ? 'false' : 'true',
    'aria-autocomplete': 'list',
    'aria-invalid': isInvalid === true ? 'true' : undefined,
    'aria-controls': listId || undefined,
    'aria-activedescendant': activeOption || undefined,
    'data-field': field,
    spellcheck: mode === 'prompt' ? 'true' : 'false',
  }
  return JSON.stringify(Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)))
}

type Found = Reference | FormulaWord

/** Holds the list below an editor: what was typed for it, what matches, and the option that Enter takes. */
function useReferenceList(isFormula: boolean, isSpaced: boolean) {
  const sight = useSight()
  const [query, setQuery] = useState<Query | null>(null)
  const [active, setActive] = useState(0)
  const found = useMemo(() => findOptions(query, sight), [query, sight])
  const close = () => setQuery(null)
  const choose = (reference: Found, view: EditorView) => {
    if (query === null) return
    close()
    insertText(view, 'insert' in reference ? reference.insert : reference.token, query, isSpaced)
  }
  return {
    query,
    found,
    active,
    close,
    choose,
    follow(view: EditorView, isTyped: boolean) {
      const { head, empty } = view.state.selection.main
      const next = empty && view.hasFocus ? findQuery(view.state.sliceDoc(), head, isFormula) : null
      // A list opens only while somebody types, not where the caret passes.
      if (!isTyped && query === null) return
      if (JSON.stringify(next) === JSON.stringify(query)) return
      setQuery(isTyped || next?.from === query?.from ? next : null)
      setActive(0)
    },
    press(key: string, view: EditorView): boolean {
      if (query === null || found.length === 0) return false
      const step = arrowStep(key)
      const chosen = found[active]
      if (step !== 0) setActive((active + step + found.length) % found.length)
      else if (key === 'Escape') close()
      else if (chosen !== undefined) choose(chosen, view)
      return true
    },
  }
}

function findOptions(query: Query | null, sight: ReturnType<typeof useSight>): Found[] {
  if (query === null) return []
  const references = listReferences(sight)
  if (query.kind !== 'word') return searchReferences(references, query.typed)
  const columns = query.typed.startsWith('.')
    ? []
    : references.filter(({ label }) => label.toLowerCase().includes(query.typed.toLowerCase())).slice(0, 20)
  return [...columns, ...findWords(query.typed)]
}
