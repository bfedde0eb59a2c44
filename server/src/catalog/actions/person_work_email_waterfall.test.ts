import { expect, it } from 'vitest'
import { useActions } from '../testing/run-action.ts'

const runAction = useActions()

const run = (inputs: Record<string, unknown>) => runAction('person_work_email_waterfall', inputs)
const skipped = (provider: string) => ({ provider, status: 'unconfigured', ms: 0, credits: 0 })

it('providers with neither key nor connection are passed over, in order; when all miss there is no match (D66)', async () => {
  const outcome = await run({
    linkedin_url: 'https://x.example',
    email_providers: ['Hunter', 'Built-in pattern'],
  })
  expect(outcome).toEqual({ kind: 'no_match', provenance: [skipped('hunter'), skipped('built_in_pattern')] })
})

it('without providers the usual ones are asked', async () => {
  const outcome = await run({ full_name: 'Ann Lee', company_domain: 'acme.com' })
  const usual = ['blitz', 'hunter', 'prospeo', 'leadmagic', 'findymail', 'datagma', 'apollo', 'snov', 'wiza']
  expect(outcome).toEqual({ kind: 'no_match', provenance: usual.map(skipped) })
})

it.each([{}, { full_name: 'Ann Lee' }, { company_domain: 'acme.com' }])(
  '%j is not enough: linkedin_url alone, or name with domain',
  async (inputs) => {
    expect(await run(inputs)).toEqual({
      kind: 'unrunnable',
      message: 'one of these must be set: linkedin_url; full_name and company_domain',
    })
  },
)

it('an unknown provider is refused (D32)', async () => {
  await expect(run({ email_providers: ['Nobody'] })).rejects.toThrow(
    'email_providers[0] unknown provider Nobody',
  )
})
