import { splitFullName } from '../values/full-name.ts'
import type { PersonAtCompany } from './work-email.ts'

type Given = {
  full_name?: string | undefined
  linkedin_url?: string | undefined
  company_domain?: string | undefined
}

/** What providers are told about a person: the name in its parts, the company by its bare host. */
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

/** A name that is its own host already. */
const PLAIN = /^(?:[a-z0-9-]+\.)+[a-z]{2,}$/

/** `acme.com` of `https://www.acme.com/about`; as given when there is no host in it. */
export function bareHost(text: string): string {
  const given = text.trim().toLowerCase()
  if (given === '') return ''
  if (PLAIN.test(given)) return given.replace(/^www\./, '')
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//.test(given) ? given : `http://${given}`)
  return (url?.host ?? given).replace(/^www\./, '')
}
