import { parseDecimal } from '#contract/decimal.ts'
import type { Resolve } from './condition-evaluate.ts'
import type { ConditionGroup } from './condition-shape.ts'
import { textOf } from './references.ts'

/** An `is` condition that must hold for its groups to hold: the variable, and the key of the text that it must equal. */
export type RequiredText = { variable: string; key: string }

/**
 * Finds the conditions that may hold for a row without evaluating the others. A condition that requires a text is found
 * by that text. All other conditions may hold for any row.
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

  /** Yields each item whose conditions may hold for the row that `resolve` reads. */
  *find(resolve: Resolve): Generator<Item> {
    for (const [variable, byKey] of this.#byVariable)
      yield* byKey.get(textKey(textOf(resolve(variable)))) ?? []
    yield* this.#others
  }
}

/** Returns an `is` condition that must hold whenever the groups hold, or undefined if there is none. */
export function findRequiredText(groups: readonly ConditionGroup[]): RequiredText | undefined {
  for (const { conditions } of requiredSteps(groups)) {
    for (const { variable, operator, values } of requiredSteps(conditions)) {
      if (operator === 'is') return { variable, key: textKey(values?.[0] ?? '') }
    }
  }
  return undefined
}

/** Returns the steps that `foldSteps` joins to everything else by AND: those after the last OR. */
function requiredSteps<Step extends { combinator?: 'AND' | 'OR' | undefined }>(
  steps: readonly Step[],
): readonly Step[] {
  const lastOr = steps.findLastIndex(({ combinator }, n) => n > 0 && combinator === 'OR')
  return lastOr < 0 ? steps : steps.slice(lastOr + 1)
}

/** Returns a key that two texts share exactly if `is` holds between them: numbers by value, other texts unchanged. */
export function textKey(text: string): string {
  const number = parseDecimal(text)
  return number === null ? `t${text}` : `n${number.sign} ${number.magnitude} ${number.digits}`
}
