import type { Adapter, AdapterAsk, Found } from '../provider/adapter.ts'
import type { AskContext } from '../provider/context.ts'
import type { Provider } from '../provider/provider.ts'
import { theirstackOpenings } from '../providers/theirstack/openings.ts'
import { readPerson } from '../questions/person-input.ts'
import { ANSWERERS } from './answer.ts'
import { DOMAIN_FINDERS } from './company-domain.ts'
import { COMPANY_SOURCES } from './company.ts'
import { HEADCOUNT_SOURCES } from './headcount.ts'
import { LINKEDIN_COMPANY_READERS } from './linkedin-company.ts'
import { LINKEDIN_PERSON_READERS } from './linkedin-person.ts'
import { PROFILE_FINDERS } from './linkedin-url.ts'
import { NEWS_ENGINES } from './news.ts'
import { PEOPLE_SOURCES } from './people.ts'
import { PERSON_SOURCES } from './person.ts'
import { PHONE_FINDERS } from './phone.ts'
import { SEARCH_ENGINES } from './search.ts'
import { TECHNOLOGY_SOURCES } from './technologies.ts'
import { VERIFIERS } from './verification.ts'
import { EMAIL_FINDERS } from './work-email.ts'

/** One small question to one provider, which shows whether its replies still have the expected shape. */
export type Sample = {
  question: string
  provider: Provider
  run(ask: AdapterAsk, context: AskContext, poll: unknown): Promise<Found<unknown>>
}

function samplesOf<Input, Result>(
  question: string,
  adapters: readonly Adapter<Input, Result>[],
  /** Each adapter gets the first input that it accepts. */
  ...inputs: NoInfer<Input>[]
): Sample[] {
  return adapters
    .filter(({ provider }) => !provider.isBuiltIn)
    .flatMap((adapter) => {
      const input = inputs.find((each) => adapter.accepts(each))
      if (input === undefined) return []
      const run: Sample['run'] = (ask, context, poll) => adapter.run(ask, input, { poll, context })
      return [{ question, provider: adapter.provider, run }]
    })
}

/**
 * The company and the person that the questions are about. Without a person only questions about the company are asked.
 */
export type Subject = {
  domain: string
  company: string
  companyUrl: string
  person?: { fullName: string; linkedinUrl: string } | undefined
}

/** A company about which every provider knows something. */
export const USUAL_SUBJECT: Subject = {
  domain: 'wikipedia.org',
  company: 'Wikimedia Foundation',
  companyUrl: 'https://www.linkedin.com/company/wikimedia-foundation',
}

const WEEK_MS = 7 * 24 * 60 * 60_000

/** Lists one question for every adapter that calls a third party. */
export function listSamples({ domain, company: name, companyUrl, person }: Subject, now: Date): Sample[] {
  const company = { domain, name, linkedin_url: companyUrl }
  const since = new Date(now.getTime() - WEEK_MS)
  return [
    ...samplesOf('company', COMPANY_SOURCES, company),
    ...samplesOf('company-domain', DOMAIN_FINDERS, { name }),
    ...samplesOf('linkedin-company', LINKEDIN_COMPANY_READERS, { linkedin_url: companyUrl }),
    ...samplesOf('headcount', HEADCOUNT_SOURCES, { ...company, by: 'country' }),
    ...samplesOf('technologies', TECHNOLOGY_SOURCES, { domain }),
    ...samplesOf('openings', [theirstackOpenings], { domain, keywords: [], limit: 1 }),
    ...samplesOf('people', PEOPLE_SOURCES, { domain, titles: ['CEO'], seniority: [], limit: 1 }),
    ...samplesOf('verification', VERIFIERS, { email: `info@${domain}` }),
    ...samplesOf('search', SEARCH_ENGINES, { query: name, limit: 1, country: '' }),
    ...samplesOf('news', NEWS_ENGINES, { query: name, since, now }),
    ...samplesOf('answer', ANSWERERS, { question: `What is ${name}?` }),
    ...(person === undefined ? [] : samplesOfPerson(person.fullName, person.linkedinUrl, domain)),
  ]
}

function samplesOfPerson(full_name: string, linkedin_url: string, domain: string): Sample[] {
  const email = `info@${domain}`
  const person = readPerson({ full_name, linkedin_url, company_domain: domain })
  return [
    ...samplesOf('work-email', EMAIL_FINDERS, person),
    ...samplesOf('phone', PHONE_FINDERS, person),
    ...samplesOf('person', PERSON_SOURCES, { ...person, email: '' }),
    ...samplesOf(
      'linkedin-url',
      PROFILE_FINDERS,
      { email: '', full_name, domain },
      { email, full_name, domain },
    ),
    ...samplesOf('linkedin-person', LINKEDIN_PERSON_READERS, { linkedin_url }),
  ]
}
