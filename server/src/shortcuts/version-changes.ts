import type { ActionInstance, Definition } from '../catalog/chain/definition.ts'
import type { FrozenInput, FrozenOutput } from '../database/connection/json-columns.ts'
import { shorten } from '../lib/errors.ts'

const MAX_SHOWN = 200

/** The content of a version. The definition is undefined if its revision is no longer stored. */
type Frozen = { inputs: FrozenInput[]; outputs: FrozenOutput[]; definition: Definition | undefined }

/** Describes the differences between two versions, one per line. */
function describeChanges(before: Frozen, after: Frozen): string[] {
  const inputs = compare(before.inputs, after.inputs, 'input', {
    keyOf: ({ reference }) => reference,
    factsOf: listFields,
  })
  const outputs = compare(before.outputs, after.outputs, 'output', {
    keyOf: ({ name }) => name,
    factsOf: listFields,
  })
  return [...inputs, ...outputs, ...describeActionChanges(before.definition, after.definition)]
}

type Version = Omit<Frozen, 'definition'> & { revision: number }

/**
 * Yields what each version changed, newest first; the oldest has nothing to compare with and yields an empty
 * list. Definitions may be large, so each is read when needed, and only two are in memory.
 */
export async function* describeVersions(
  versions: readonly Version[],
  read: (revision: number) => Promise<Definition | undefined>,
): AsyncGenerator<string[]> {
  const freeze = async (version: Version): Promise<Frozen> => ({
    ...version,
    definition: await read(version.revision),
  })
  let after: Frozen | undefined
  for (const version of versions) {
    const before = await freeze(version)
    if (after !== undefined) yield describeChanges(before, after)
    after = before
  }
  if (after !== undefined) yield []
}

export function describeActionChanges(
  before: Definition | undefined,
  after: Definition | undefined,
): string[] {
  if (before === undefined || after === undefined) return []
  return compare(before.actions, after.actions, 'action', { keyOf: ({ id }) => id, factsOf: listSettings })
}

type Facts = Record<string, unknown>

function compare<Item>(
  before: readonly Item[],
  after: readonly Item[],
  kind: string,
  { keyOf, factsOf }: { keyOf: (item: Item) => string; factsOf: (item: Item) => Facts },
): string[] {
  const old = new Map(before.map((item) => [keyOf(item), item]))
  const present = new Set(after.map(keyOf))
  const removed = before.filter((item) => !present.has(keyOf(item)))
  return [
    ...removed.map((item) => `Removed ${kind} ${keyOf(item)}`),
    ...after.flatMap((item) => {
      const known = old.get(keyOf(item))
      if (known === undefined) return [`Added ${kind} ${keyOf(item)}`]
      return compareFacts(factsOf(known), factsOf(item)).map(
        (line) => `Changed ${kind} ${keyOf(item)}: ${line}`,
      )
    }),
  ]
}

function compareFacts(before: Facts, after: Facts): string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return names.flatMap((name) => {
    const [old, now] = [print(before[name]), print(after[name])]
    return old === now ? [] : [`${name} from ${shorten(old, MAX_SHOWN)} to ${shorten(now, MAX_SHOWN)}`]
  })
}

const print = (value: unknown): string => (value === undefined ? 'nothing' : JSON.stringify(value))

/**
 * Returns the fields to compare. The column is left out: it is only the place of storage, which users do not
 * see.
 */
function listFields(field: FrozenInput | FrozenOutput): Facts {
  return Object.fromEntries(Object.entries(field).filter(([name]) => name !== 'column'))
}

function listSettings({
  display_name,
  inputs,
  run_if,
  continue_workflow_if_action_fails,
}: ActionInstance): Facts {
  return { display_name, ...inputs, run_if, continue_workflow_if_action_fails }
}
