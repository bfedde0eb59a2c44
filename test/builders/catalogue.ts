import { type Action, defineAction } from '#server/catalog/define.ts'
import type { ProviderOption } from '#server/catalog/fields/field.ts'
import { field } from '#server/catalog/fields/fields.ts'
import { done } from '#server/catalog/outcome.ts'
import { output } from '#server/catalog/outputs.ts'
import type { Catalogue } from '#server/catalog/registry.ts'

const of = (help: string) => ({ label: help.slice(0, -1), help })

/** An action with one field of every kind and an output of most kinds. */
export const probe = defineAction({
  id: 'probe',
  name: 'Probe',
  description: 'Has one field of every kind.',
  category: 'data',
  inputs: {
    text: field.text({ required: true, label: 'Text', help: 'Any text.' }),
    other: field.text(of('More text.')),
    amount: field.number({ min: 0, max: 100, label: 'Amount', help: 'A number.' }),
    flag: field.toggle(of('On or off.')),
    mode: field.choice(['fast', 'slow'], of('One of two words.')),
    tags: field.texts(of('Several texts.')),
    pairs: field.pairs(of('Names and values.')),
    format: field.outputFormat(of('A shape.')),
    only_if: field.conditions(of('Conditions over the row.')),
    target: field.dropdown({ from: 'sheets', label: 'Target', help: 'A sheet.' }),
    nested: field.dropdown({
      from: 'sheets',
      needs: ['object_type'],
      label: 'Nested',
      help: 'Depends on another.',
    }),
    lookup: field.targetConditions({ sheet: 'target', ...of('Conditions over another sheet.') }),
  },
  outputs: {
    summary: output.text('A text.'),
    score: output.number('A number.'),
    fits: output.boolean('Yes or no.'),
    found: output.json('An object.'),
    people: output.table('A list with columns.', { name: 'string', email: 'email' }),
    loose: output.table('A list whose columns a run tells.'),
    computed: output.any('Anything.'),
  },
  run: () =>
    done({ summary: null, score: null, fits: null, found: null, people: null, loose: null, computed: null }),
})

const provider = (id: string, name: string, more: Partial<ProviderOption> = {}): ProviderOption => ({
  id,
  name,
  supportsOwnKey: true,
  requiresOwnKey: false,
  ...more,
})

/** An action that needs one input or two others, and that asks providers of every kind. */
export const finder = defineAction({
  id: 'finder',
  name: 'Finder',
  description: 'Has a waterfall.',
  category: 'people',
  inputs: {
    url: field.text({ type: 'url', label: 'Url', help: 'Enough alone.' }),
    name: field.text(of('Needs domain.')),
    domain: field.text(of('Needs name.')),
    providers: field.waterfall({
      label: 'Providers',
      help: 'Who is asked.',
      adapters: [
        provider('alpha', 'Alpha'),
        provider('beta', 'Beta', { supportsOwnKey: false }),
        provider('gamma', 'Gamma', { requiresOwnKey: true }),
        provider('twin_a', 'Twin'),
        provider('twin_b', 'Twin'),
        provider('retired', 'Retired', { disabled: true }),
      ].map((option) => ({ option })),
      default: [],
    }),
  },
  needs: [['url'], ['name', 'domain']],
  outputs: { email: output.email('What was found.') },
  run: () => done({ email: null }),
})

/** An action whose outputs are known only after a run. */
const caller = defineAction({
  id: 'caller',
  name: 'Caller',
  description: 'Has outputs that a run tells.',
  category: 'web',
  inputs: { address: field.text(of('Where to.')) },
  outputs: { status_code: output.number('The status.') },
  dynamic: true,
  run: () => done({ status_code: 200 }),
})

const gate = defineAction({
  id: 'gate',
  name: 'Gate',
  description: 'Has no outputs.',
  category: 'flow',
  inputs: {},
  outputs: {},
  run: () => done({}),
})

export function catalogueOf(...actions: Action[]): Catalogue {
  const byId = new Map(actions.map((action) => [action.id, action]))
  return { get: (id) => byId.get(id), list: () => [...byId.values()] }
}

export const testCatalogue = catalogueOf(probe, finder, caller, gate)
