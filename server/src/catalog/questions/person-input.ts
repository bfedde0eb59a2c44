import { field } from '../fields/fields.ts'
import { splitFullName } from '../values/full-name.ts'
import type { PersonAtCompany } from './work-email.ts'

type Given = {
  full_name?: string | undefined
  linkedin_url?: string | undefined
  company_domain?: string | undefined
}

/** The fields that name a person at a company. */
export const fullName = field.text({
  label: 'Full name',
  help: 'Needs the company domain as well.',
  placeholder: 'Ada Lovelace',
})
export const companyDomain = field.text({
  label: 'Company domain',
  help: 'Needs the full name as well.',
  placeholder: 'acme.com',
})

/** Returns a person as providers receive it: the name in parts, the company by its bare host. */
export function readPerson({
  full_name = '',
  linkedin_url = '',
  company_domain = '',
}: Given): PersonAtCompany {
  const { first, last } = splitFullName(full_name)
  return {
    full_name: full_name.trim(),
    first_name: first,
    last_name: last,
    domain: bareHost(company_domain),
    linkedin_url: linkedin_url.trim(),
  }
}

/** A text that is already a bare host. */
const PLAIN = /^(?:[a-z0-9-]+\.)+[a-z]{2,}$/

/** Returns the bare host, `acme.com` for `https://www.acme.com/about`, or the given text if it contains no host. */
export function bareHost(text: string): string {
  const given = text.trim().toLowerCase()
  if (given === '') return ''
  if (PLAIN.test(given)) return given.replace(/^www\./, '')
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//.test(given) ? given : `http://${given}`)
  return (url?.host ?? given).replace(/^www\./, '')
}
