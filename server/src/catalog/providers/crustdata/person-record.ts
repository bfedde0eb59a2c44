import { z } from 'zod'
import type { AdapterAsk, Found } from '../../provider/adapter.ts'
import { WireNumber, WireText } from '../../provider/wire-fields.ts'
import type { Person } from '../../questions/person.ts'
import { enrich } from './matches.ts'
import { readEmployer, type Job, presentOf, Profile } from './profile.ts'

const School = z.object({
  school: WireText,
  degree: WireText,
  start_date: WireText,
  end_date: WireText,
  start_year: WireNumber,
  end_year: WireNumber,
})
const Shape = Profile.extend({
  education: z.object({ schools: z.array(School).nullish() }).nullish(),
  professional_network: z.object({ connections: WireNumber }).nullish(),
})
export type PersonRecord = z.output<typeof Shape>

const FIELDS = ['basic_profile', 'experience', 'education', 'social_handles', 'professional_network']

/** Looks a person up by profile or by work email. */
export function lookUpPerson<Result>(
  ask: AdapterAsk,
  { linkedin_url, email }: { linkedin_url: string; email: string },
  read: (record: PersonRecord, person: Person) => Found<Result>,
): Promise<Found<Result>> {
  const by =
    linkedin_url === '' ? { business_emails: [email] } : { professional_network_profile_urls: [linkedin_url] }
  return enrich(ask, { path: '/person/enrich', by, fields: FIELDS, data: Shape }, (record) =>
    read(record, toPerson(record)),
  )
}

function toPerson(record: PersonRecord): Person {
  const { current, past } = record.experience?.employment_details ?? {}
  const { domain: _, ...present } = presentOf(record)
  return {
    ...present,
    experiences: [
      ...(current ?? []).map((job) => toExperience(job, true)),
      ...(past ?? []).map((job) => toExperience(job, false)),
    ],
    education: (record.education?.schools ?? []).map((study) => ({
      school: study.school ?? null,
      degree: study.degree ?? null,
      start: study.start_date ?? yearText(study.start_year),
      end: study.end_date ?? yearText(study.end_year),
    })),
  }
}

function toExperience(job: Job, current: boolean): Person['experiences'][number] {
  return {
    title: job.title ?? null,
    company: readEmployer(job),
    start: job.start_date ?? null,
    end: job.end_date ?? null,
    current,
  }
}

const yearText = (year: number | null | undefined) => (typeof year === 'number' ? String(year) : null)
