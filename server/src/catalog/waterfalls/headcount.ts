import { field } from '../fields/fields.ts'
import { output } from '../outputs.ts'
import { askInOrder } from '../provider/ask-in-order.ts'
import type { CellContext } from '../provider/context.ts'
import { blitzHeadcount } from '../providers/blitz/headcount.ts'
import { crustdataHeadcount } from '../providers/crustdata/headcount.ts'
import { exploriumHeadcount } from '../providers/explorium/headcount.ts'
import type { HeadcountQuestion } from '../questions/headcount.ts'
import { bareHost } from '../questions/person-input.ts'

/** The providers that count the people of a company, in default order. */
export const HEADCOUNT_SOURCES = [exploriumHeadcount, crustdataHeadcount, blitzHeadcount]

const inputs = {
  domain: field.text({ label: 'Company domain', help: 'Enough on its own.', placeholder: 'acme.com' }),
  name: field.text({ label: 'Company name', help: 'Enough on its own.', placeholder: 'Acme' }),
  linkedin_url: field.text({
    type: 'url',
    label: 'Company LinkedIn page',
    help: 'Enough on its own.',
    placeholder: 'https://www.linkedin.com/company/acme',
  }),
  providers: field.waterfall({
    adapters: HEADCOUNT_SOURCES,
    label: 'Providers',
    help: 'Asked in order until one has an answer.',
  }),
  order: field.waterfallOrder,
}

type Given = {
  inputs: { [Name in keyof typeof inputs]: ReturnType<(typeof inputs)[Name]['read']> }
  context: CellContext
}

/** Returns the shared part of the actions that return a company's headcount. `by` is also the name of a part. */
export function headcountBy(by: HeadcountQuestion['by']) {
  return {
    credits: 0,
    timeoutSeconds: 120,
    inputs,
    needs: [['domain'], ['name'], ['linkedin_url']] as const,
    outputs: {
      company_headcount: output.number('The number of employees there, if the provider reports it.'),
      breakdown: output.list(`Per ${by.replace('_', ' ')}: {${by}, employees, percent}.`),
      provider: output.text('The provider that answered.'),
    },
    run: ({ inputs: { domain = '', name = '', linkedin_url = '', providers, order }, context }: Given) =>
      askInOrder(
        { ...providers, order },
        { by, domain: bareHost(domain), name: name.trim(), linkedin_url: linkedin_url.trim() },
        context,
        {
          read: ({ value: { company_headcount, breakdown }, provider }) => ({
            company_headcount,
            breakdown: breakdown.map(({ name: part, ...counted }) => ({ [by]: part, ...counted })),
            provider,
          }),
        },
      ),
  }
}
