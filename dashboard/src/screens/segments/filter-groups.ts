export type Joint = 'AND' | 'OR'
export type FieldCondition = {
  about: 'field'
  variable: string
  operator: string
  values: string[]
  joint: Joint
}
/** A condition on an event. Its values are texts as typed; empty ones are omitted. */
export type EventCondition = {
  about: 'event'
  event: string
  withinDays: string
  atLeast: string
  joint: Joint
}
export type Condition = FieldCondition | EventCondition
export type Group = { joint: Joint; conditions: Condition[] }

const WITHOUT_VALUE = new Set(['is empty', 'is not empty'])
export const takesNoValue = (operator: string) => WITHOUT_VALUE.has(operator)

export const newCondition = (variable: string): FieldCondition => ({
  about: 'field',
  variable,
  operator: 'is',
  values: [''],
  joint: 'AND',
})

const toNumber = (text: string): number | string =>
  text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text

/** Returns the groups in the format of the API. */
export function printFilter(groups: readonly Group[]) {
  return groups.map(({ joint, conditions }) => ({
    combinator: joint,
    conditions: conditions.map((one) =>
      one.about === 'field'
        ? {
            variable: one.variable,
            operator: one.operator,
            ...(takesNoValue(one.operator) ? {} : { values: one.values }),
            combinator: one.joint,
          }
        : {
            event: one.event,
            ...(one.withinDays === '' ? {} : { within_days: toNumber(one.withinDays) }),
            ...(one.atLeast === '' ? {} : { at_least: toNumber(one.atLeast) }),
            combinator: one.joint,
          },
    ),
  }))
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const toText = (value: unknown) =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : ''
const readJoint = (value: unknown): Joint => (toText(value).toUpperCase() === 'OR' ? 'OR' : 'AND')

/** Reads a stored filter for editing. Returns null if it has conditions that only JSON can express, such as relationships. */
export function readFilter(filter: unknown): Group[] | null {
  if (!Array.isArray(filter)) return null
  const groups = filter.map((group: unknown): Group | null => {
    if (!isObject(group) || !Array.isArray(group['conditions'])) return null
    const conditions = group['conditions'].map(readCondition)
    return conditions.some((one) => one === null)
      ? null
      : { joint: readJoint(group['combinator']), conditions: conditions.filter((one) => one !== null) }
  })
  return groups.some((group) => group === null) ? null : groups.filter((group) => group !== null)
}

function readCondition(raw: unknown): Condition | null {
  if (!isObject(raw)) return null
  const joint = readJoint(raw['combinator'])
  if (typeof raw['variable'] === 'string') {
    const values = Array.isArray(raw['values']) ? raw['values'].map(toText) : ['']
    return { about: 'field', variable: raw['variable'], operator: toText(raw['operator']), values, joint }
  }
  if (typeof raw['event'] !== 'string' || raw['at_most'] !== undefined) return null
  return {
    about: 'event',
    event: raw['event'],
    withinDays: toText(raw['within_days']),
    atLeast: toText(raw['at_least']),
    joint,
  }
}
