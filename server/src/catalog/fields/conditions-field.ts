import { withPlainNumbers } from '../../lib/json/lossless-json.ts'
import { evaluate } from '../chain/condition-evaluate.ts'
import { type ConditionGroup, type ConditionLeaf, parseConditionGroups } from '../chain/condition-shape.ts'
import { renameInText } from '../chain/input-renames.ts'
import { listTokens } from '../chain/reference-walk.ts'
import { describeField, type Field, type FieldTexts, type Scope } from './field.ts'

type Given = FieldTexts & { required?: boolean }

/** Defines a field for condition groups over the row, as in run_if. Its value is true if they hold. */
export function conditions(options: Given): Field<boolean> {
  return {
    ...base(options, 'row'),
    resolve(configured, scope) {
      const subjects: unknown[] = []
      const groups = mapLeaves(asGroups(configured), scope, (variable) =>
        String(subjects.push(scope.value(variable)) - 1),
      )
      return { groups, subjects }
    },
    read(resolved) {
      const { groups, subjects } = (resolved ?? { groups: [], subjects: [] }) as Resolved
      return evaluate(groups, (place) => subjects[Number(place)], { resolveValue: (text) => text })
    },
  }
}

/**
 * Groups whose variables are positions in a list of values, so that row data never stands where a token could be read.
 */
type Resolved = { groups: ConditionGroup[]; subjects: unknown[] }

/**
 * Defines a field for condition groups over another sheet. Variables stay tokens of that sheet; values come from the
 * row (D65).
 */
export function targetConditions({ sheet, ...options }: Given & { sheet: string }): Field<ConditionGroup[]> {
  return {
    ...base(options, 'target'),
    namesInputs: {
      of: sheet,
      takesPaths: true,
      list: listInputs,
      rename: (configured, renames) =>
        changeLeaves(asGroups(configured), (leaf) => ({
          ...leaf,
          variable: renameInText(leaf.variable, renames),
        })),
    },
    resolve: (configured, scope) => mapLeaves(asGroups(configured), scope, (variable) => variable),
    read: asGroups,
    references: (configured) =>
      asGroups(configured).flatMap((group) => group.conditions.flatMap((leaf) => leaf.values ?? [])),
    renameInputs: (configured, renames) =>
      changeLeaves(asGroups(configured), ({ values, ...leaf }) => ({
        ...leaf,
        ...(values === undefined ? {} : { values: values.map((text) => renameInText(text, renames)) }),
      })),
  }
}

function base({ required = false, ...texts }: Given, over: 'row' | 'target') {
  return {
    type: 'path_filter',
    required,
    ...describeField(texts, 'conditions'),
    conditions: { over },
    keepsNumbers: true as const,
    check,
  }
}

function check(raw: unknown, path: string): ReturnType<Field['check']> {
  const parsed = parseConditionGroups(withPlainNumbers(raw, ['values']), path)
  if (!parsed.ok) return { kind: 'refuse', errors: parsed.errors }
  const { value, warnings = [] } = parsed
  return { kind: 'save', value, warnings }
}

/** Lists the inputs of the other sheet that variables name. */
function listInputs(configured: unknown): { place: string; name: string }[] {
  return asGroups(configured).flatMap(({ conditions }, outer) =>
    conditions.flatMap(({ variable }, inner) =>
      listTokens(variable).flatMap(({ token }) =>
        token.kind === 'input'
          ? [{ place: `[${outer}].conditions[${inner}].variable`, name: token.name }]
          : [],
      ),
    ),
  )
}

/** Casts a stored or resolved value to groups: `check` accepts no other shape, and `resolve` makes no other. */
function asGroups(stored: unknown): ConditionGroup[] {
  return Array.isArray(stored) ? (stored as ConditionGroup[]) : []
}

function changeLeaves(
  groups: ConditionGroup[],
  change: (leaf: ConditionLeaf) => ConditionLeaf,
): ConditionGroup[] {
  return groups.map((group) => ({ ...group, conditions: group.conditions.map(change) }))
}

function mapLeaves(
  groups: ConditionGroup[],
  scope: Scope,
  change: (variable: string) => string,
): ConditionGroup[] {
  return changeLeaves(groups, ({ variable, values, ...leaf }) => ({
    ...leaf,
    variable: change(variable),
    ...(values === undefined ? {} : { values: values.map((text) => scope.text(text)) }),
  }))
}
