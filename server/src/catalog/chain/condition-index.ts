import type { Resolve } from './condition-evaluate.ts'
import type { ConditionGroup } from './condition-shape.ts'
import { parseDecimal } from './decimal.ts'
import { textOf } from './references.ts'

/** A condition `is` without which its groups hold of nothing: the variable, and the key of the text that it must be. */
export type RequiredText = { variable: string; key: string }

/**
 * Finds among many conditions those that may hold of a row, without evaluating the others: conditions that require a text are
 * found by it, all others may hold of any row.
 */
export class ConditionIndex<Item> {
  readonly #byVariable = new Map<string, Map<string, Item[]>>()
  readonly #others: Item[] = []

  add(item: Item, required: RequiredText | undefined): void {
    if (required === undefined) {
      this.#others.push(item)
      return
    }
    const { variable, key } = required
    const byKey = this.#byVariable.get(variable) ?? new Map<string, Item[]>()
    this.#byVariable.set(variable, byKey)
    const items = byKey.get(key)
    if (items === undefined) byKey.set(key, [item])
    else items.push(item)
  }

  /** Yields each item whose conditions may hold of the row that `resolve` reads. */
  *find(resolve: Resolve): Generator<Item> {
    for (const [variable, byKey] of this.#byVariable)
      yield* byKey.get(textKey(textOf(resolve(variable)))) ?? []
    yield* this.#others
  }
}

/** Finds an `is` that must hold wherever the groups do; undefined when they may hold without any. */
export function findRequiredText(groups: readonly ConditionGroup[]): RequiredText | undefined {
  for (const { conditions } of requiredSteps(groups)) {
    for (const { variable, operator, values } of requiredSteps(conditions)) {
      if (operator === 'is') return { variable, key: textKey(values?.[0] ?? '') }
    }
  }
  return undefined
}

/** Returns the steps that `foldSteps` joins by AND to everything else: there is no OR at or behind them. */
function requiredSteps<Step extends { combinator?: 'AND' | 'OR' | undefined }>(
  steps: readonly Step[],
): readonly Step[] {
  const lastOr = steps.findLastIndex(({ combinator }, n) => n > 0 && combinator === 'OR')
  return lastOr < 0 ? steps : steps.slice(lastOr + 1)
}

/** Returns a key that two texts share exactly where `is` holds between them: numbers by value, other texts as they are. */
export function textKey(text: string): string {
  const number = parseDecimal(text)
  return number === null ? `t${text}` : `n${number.sign} ${number.magnitude} ${number.digits}`
}
