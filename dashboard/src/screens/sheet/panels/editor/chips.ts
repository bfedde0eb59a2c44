import { RangeSet, StateEffect, StateField, type EditorState, type Extension } from '@codemirror/state'
import { Decoration, type DecorationSet, EditorView, WidgetType } from '@codemirror/view'
import type { Reference } from '../../references.ts'
import { findTokens } from '../../tokens.ts'

export type Chip = Reference & { leads: boolean }
export type Describe = (content: string) => Chip

/** Sets the function that describes tokens, after columns or the sample row have changed. */
export const setDescribe = StateEffect.define<Describe>()

/** The class names of a chip, also where no editor shows it. */
export const CHIP =
  'inline-flex max-w-full items-baseline gap-1 rounded bg-selected px-1.5 align-baseline font-sans text-12 leading-[18px] font-medium text-accent-text aria-invalid:bg-failed-bg aria-invalid:text-failed'

/** Returns the accessible name of a chip. */
export const nameChip = ({ label, type, sample }: Reference): string => `${label}, ${type}, ${sample}`

class ChipWidget extends WidgetType {
  readonly chip: Chip

  constructor(chip: Chip) {
    super()
    this.chip = chip
  }

  override eq({ chip }: ChipWidget): boolean {
    return (
      chip.token === this.chip.token &&
      chip.leads === this.chip.leads &&
      nameChip(chip) === nameChip(this.chip)
    )
  }

  toDOM(): HTMLElement {
    const { token, label, sample, leads } = this.chip
    const element = document.createElement('span')
    element.className = CHIP
    element.setAttribute('role', 'img')
    element.setAttribute('aria-label', nameChip(this.chip))
    if (!leads) element.setAttribute('aria-invalid', 'true')
    element.dataset['token'] = token
    element.title = leads ? `${label}: ${sample}` : `${label}: no such column before this action`
    const text = document.createElement('span')
    text.className = 'truncate'
    text.textContent = label
    element.append(text)
    return element
  }

  override ignoreEvent(): boolean {
    return false
  }
}

type Chips = { describe: Describe; set: DecorationSet }

function buildChips(state: EditorState, describe: Describe): Chips {
  const marks = findTokens(state.doc.toString()).map(({ from, to, content }) =>
    Decoration.replace({
      widget: new ChipWidget({ ...describe(content), token: state.sliceDoc(from, to) }),
    }).range(from, to),
  )
  return { describe, set: RangeSet.of(marks) }
}

/** Shows the tokens of a text as chips, which the caret passes and Backspace removes whole. */
export function chips(describe: Describe): Extension {
  const field = StateField.define<Chips>({
    create: (state) => buildChips(state, describe),
    update(value, transaction) {
      const given = transaction.effects.find((effect) => effect.is(setDescribe))
      if (given === undefined && !transaction.docChanged) return value
      return buildChips(transaction.state, given?.value ?? value.describe)
    },
    provide: (self) => [
      EditorView.decorations.from(self, ({ set }) => set),
      EditorView.atomicRanges.of((view) => view.state.field(self).set),
    ],
  })
  return field
}
