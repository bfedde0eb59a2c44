import type { FieldKind } from '#contract/actions.ts'
import type { GraphNode } from '../../../../api/sheet.ts'
import { type ConditionGroup, printGroups, readGroupsExactly } from '../../conditions.ts'
import type { Step } from '../waterfall-steps.ts'
import { type AnswerShape, printAnswer, readAnswer } from './answer-rows.ts'
import { type Pair, printPairs, readFlag, readPairs, readText, readTexts } from './values.ts'
import { readSteps } from './waterfall-value.ts'

/** A value as the control of its kind holds it; as JSON if that control would lose a part of it. */
export type Shown =
  | { as: 'text'; text: string }
  | { as: 'flag'; checked: boolean }
  | { as: 'texts'; texts: readonly string[] }
  | { as: 'pairs'; pairs: readonly Pair[] }
  | { as: 'conditions'; groups: readonly ConditionGroup[] }
  | { as: 'answer'; shape: AnswerShape }
  | { as: 'steps'; steps: readonly Step[] }
  | { as: 'json'; value: unknown }

/** The saved action, and the names of the outputs that its template declares. */
export type Around = { node: Pick<GraphNode, 'outputs'> | null; declared: readonly string[] }

/** Returns a value as the control of its kind holds it. */
export function readField(kind: FieldKind, value: unknown, around: Around): Shown {
  return readKnown(kind, value, around) ?? { as: 'json', value }
}

function readKnown(kind: FieldKind, value: unknown, { node, declared }: Around): Shown | null {
  switch (kind) {
    case 'text':
    case 'prompt':
    case 'formula':
    case 'url':
    case 'number':
    case 'column':
    case 'model':
    case 'choice':
    case 'sheet':
    case 'connection':
    case 'date':
    case 'file':
    case 'json': {
      const text = readText(value)
      return text === null ? null : { as: 'text', text }
    }
    case 'boolean': {
      const checked = readFlag(value)
      return checked === null ? null : { as: 'flag', checked }
    }
    case 'list':
    case 'columns':
    case 'choices': {
      const texts = readTexts(value)
      return texts === null ? null : { as: 'texts', texts }
    }
    case 'pairs': {
      const pairs = readPairs(value)
      return pairs === null ? null : { as: 'pairs', pairs }
    }
    case 'conditions': {
      const groups = readGroupsExactly(value)
      return groups === null ? null : { as: 'conditions', groups }
    }
    case 'answer_fields': {
      const shape = readAnswer(value, node, declared)
      return shape === null ? null : { as: 'answer', shape }
    }
    case 'waterfall': {
      const steps = readSteps(value)
      return steps === null ? null : { as: 'steps', steps }
    }
  }
}

/** Returns what the control sends for what it holds, as after a change that was taken back. */
export function printField(shown: Shown): unknown {
  switch (shown.as) {
    case 'text':
      return shown.text
    case 'flag':
      return shown.checked
    case 'texts':
      return shown.texts
    case 'pairs':
      return printPairs(shown.pairs)
    case 'conditions':
      return printGroups(shown.groups)
    case 'answer':
      return shown.shape.kind === 'schema' ? { json: shown.shape.schema } : printAnswer(shown.shape.rows)
    case 'steps':
      return shown.steps
    case 'json':
      return shown.value
  }
}
