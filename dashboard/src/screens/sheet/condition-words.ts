import { type ConditionGroup, type Leaf, takesNoValue } from './conditions.ts'
import { describeToken, type Sight } from './references.ts'
import { findTokens, soleToken } from './tokens.ts'

/** Prints conditions as a sentence: `Country is "DE" and Size is greater than "10"`. */
export function printConditions(groups: readonly ConditionGroup[], sight: Sight): string {
  const filled = groups.filter(({ conditions }) => conditions.length > 0)
  return filled
    .map(({ conditions, combinator }, at) => {
      const words = conditions
        .map(
          (leaf, place) =>
            `${place === 0 ? '' : ` ${leaf.combinator.toLowerCase()} `}${printLeaf(leaf, sight)}`,
        )
        .join('')
      const group = filled.length > 1 && conditions.length > 1 ? `(${words})` : words
      return at === 0 ? group : ` ${combinator.toLowerCase()} ${group}`
    })
    .join('')
}

function printLeaf({ variable, operator, values }: Leaf, sight: Sight): string {
  const content = soleToken(variable)
  const name = content === null ? variable : describeToken(content, sight).label
  const verb = /^(greater|less)/.test(operator) ? `is ${operator}` : operator
  const wanted = takesNoValue(operator) ? [] : values.map((value) => printValue(value, sight))
  return [name === '' ? '…' : name, verb, wanted.join(' and ')].filter(Boolean).join(' ')
}

function printValue(value: string, sight: Sight): string {
  const content = soleToken(value)
  if (content !== null) return describeToken(content, sight).label
  const filled = findTokens(value).reduceRight(
    (text, { from, to, content }) =>
      `${text.slice(0, from)}${describeToken(content, sight).label}${text.slice(to)}`,
    value,
  )
  return `"${filled}"`
}
