import { expect, it } from 'vitest'
import { makeRowSheet } from '#test/builders/rows.ts'
import { makeApp } from '#test/plumbing/harness.ts'

const app = await makeApp()
const org = await app.makeOrg()
const sheet = await makeRowSheet(org, ['company', 'website'])
const inputs = { value: '{{input.website}}' }
await org.call('POST', `${sheet}/actions/add`, { action_id: 'normalize_domain', inputs })

const IGNORED = 'this field is not known here and was ignored'

it.each<[string, string, string, unknown, [string, string][]]>([
  [
    'PATCH',
    'a field of a body',
    '',
    { auto_runn: true, cache_enabled: false },
    [['auto_runn', `${IGNORED}; did you mean auto_run?`]],
  ],
  ['PATCH', 'a field unlike any', '', { colour: 1, cache_enabled: false }, [['colour', IGNORED]]],
  [
    'POST',
    'a field inside a list',
    '/rows/list',
    { filters: [{ variable: '{{input.website}}', operator: 'is empty', vales: [] }] },
    [['filters[0].vales', `${IGNORED}; did you mean values?`]],
  ],
  [
    'PATCH',
    'a field of an action',
    '/actions/normalize_domain_1',
    { inputs: { vlaue: '{{input.website}}' } },
    [['inputs.vlaue', 'this action has no such field; it was ignored; did you mean value?']],
  ],
  [
    'PATCH',
    'a token',
    '/actions/normalize_domain_1',
    { inputs: { value: '{{input.webiste}}' } },
    [['inputs.value', '{{input.webiste}} does not exist; did you mean {{input.website}}?']],
  ],
])('%s with %s that is not known warns with what was meant', async (method, _what, path, body, warnings) => {
  const answer = await org.call(method, `${sheet}${path}`, body)
  expect(answer.status).toBe(200)
  const found = (answer.body.warnings ?? []).map((warning: Record<string, string>) => [
    warning['field'],
    warning['message'],
  ])
  expect(found).toEqual(warnings)
})

it.each<[string, string, unknown, [string, string][]]>([
  [
    'a column of a filter',
    '/rows/list',
    { filters: [{ variable: '{{input.compny}}', operator: 'is empty' }] },
    [['filters[0].variable', 'the sheet has no input for {{input.compny}}; did you mean {{input.company}}?']],
  ],
  [
    'an action of a filter',
    '/rows/list',
    { status_filters: [{ action_instance_id: 'normalize_domain', is: ['failed'] }] },
    [
      [
        'status_filters[0].action_instance_id',
        'the sheet has no action normalize_domain; did you mean normalize_domain_1?',
      ],
    ],
  ],
  [
    'a target of a mapping',
    '/csv',
    { file_ref: 'x.csv', mapping: { Name: 'Company' } },
    [
      ['file_ref', expect.any(String)],
      ['mapping.Name', 'the sheet has no input named "Company"; did you mean company?'],
    ],
  ],
  [
    'an action to stand after',
    '/actions/add',
    { action_id: 'normalize_domain', after: 'normalize_domain' },
    [
      [
        'after',
        'the chain has no action normalize_domain; it takes an action_instance_id; did you mean normalize_domain_1?',
      ],
    ],
  ],
  [
    'an empty name of what to stand after',
    '/actions/add',
    { action_id: 'normalize_domain', after: '' },
    [['after', 'must not be empty: leave it out for the end, or give `input` or an action_instance_id']],
  ],
  [
    'an action',
    '/actions/add',
    { action_id: 'normalise_domain' },
    [['action_id', expect.stringMatching(/; did you mean normalize_domain\?$/)]],
  ],
])('%s that is not known is a 400 with what was meant', async (_what, path, body, errors) => {
  const answer = await org.call('POST', `${sheet}${path}`, body)
  expect(answer.status).toBe(400)
  const found = answer.body.errors.map((error: Record<string, string>) => [error['field'], error['message']])
  expect(found).toEqual(errors)
})
