import { valuesNeeded } from './condition-operators.ts'
import type { ConditionGroup, ConditionLeaf } from './condition-shape.ts'
import { parseDecimal } from './decimal.ts'
import { parseTemplate, soleToken } from './references.ts'

/** `joined` is the last combinator of the phrase, undefined for a single condition. */
type Phrase = { words: string; joined?: 'AND' | 'OR' }
type Step = Phrase & { combinator?: 'AND' | 'OR' | undefined }

/** The conditions in words, with brackets wherever another order of reading would change the meaning. */
export function explain(groups: ConditionGroup[]): string {
  const phrases = groups.map(({ conditions, combinator }) => ({
    ...join(conditions.map((leaf) => ({ words: explainLeaf(leaf), combinator: leaf.combinator }))),
    combinator,
  }))
  return join(phrases).words || 'always'
}

function join([first, ...rest]: Step[]): Phrase {
  const start: Phrase = first?.joined
    ? { words: first.words, joined: first.joined }
    : { words: first?.words ?? '' }
  return rest.reduce<Phrase>((left, right) => {
    const joined = right.combinator ?? 'AND'
    return { words: `${bracket(left, joined)} ${joined} ${bracket(right, joined)}`, joined }
  }, start)
}

function bracket({ words, joined }: Phrase, outer: 'AND' | 'OR'): string {
  return joined === undefined || joined === outer ? words : `(${words})`
}

function explainLeaf({ variable, operator, values = [] }: ConditionLeaf): string {
  const named = values.slice(0, valuesNeeded(operator)).map(explainValue)
  return [variable, operator, named.join(' and ')].filter((word) => word !== '').join(' ')
}

/** Numbers and references bare, other text in quotes. */
function explainValue(value: string): string {
  return parseDecimal(value) || soleToken(parseTemplate(value)) ? value : JSON.stringify(value)
}
