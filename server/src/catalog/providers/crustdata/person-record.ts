import { z } from 'zod'
import { type AdapterAsk, type Found, MISS } from '../../provider/adapter.ts'
import { WireNumber, WireText } from '../../provider/wire-fields.ts'
import type { Person } from '../../questions/person.ts'

const Employer = z.object({
  employee_title: WireText,
  employer_name: WireText,
  start_date: WireText,
  end_date: WireText,
})
const Shape = z.object({
  name: WireText,
  title: WireText,
  headline: WireText,
  summary: WireText,
  location: WireText,
  linkedin_profile_url: WireText,
  linkedin_flagship_url: WireText,
  num_of_connections: WireNumber,
  current_employers: z.array(Employer).nullish(),
  past_employers: z.array(Employer).nullish(),
  education_background: z
    .array(
      z.object({ institute_name: WireText, degree_name: WireText, start_date: WireText, end_date: WireText }),
    )
    .nullish(),
})
export type PersonRecord = z.output<typeof Shape>

/** Looks a person up by profile or by work email. */
export function lookUpPerson<Result>(
  ask: AdapterAsk,
  { linkedin_url, email }: { linkedin_url: string; email: string },
  read: (record: PersonRecord, person: Person) => Found<Result>,
): Promise<Found<Result>> {
  const query = linkedin_url === '' ? { business_email: email } : { linkedin_profile_url: linkedin_url }
  return ask({ path: '/screener/person/enrich', query }, z.array(Shape), ([record]) =>
    record?.name ? read(record, toPerson(record, record.name)) : MISS,
  )
}

function toPerson(record: PersonRecord, full_name: string): Person {
  const [now] = record.current_employers ?? []
  return {
    full_name,
    title: now?.employee_title ?? record.title ?? record.headline ?? null,
    company: now?.employer_name ?? null,
    location: record.location ?? null,
    linkedin_url: record.linkedin_flagship_url ?? record.linkedin_profile_url ?? null,
    experiences: [
      ...(record.current_employers ?? []).map((employer) => toExperience(employer, true)),
      ...(record.past_employers ?? []).map((employer) => toExperience(employer, false)),
    ],
    education: (record.education_background ?? []).map((study) => ({
      school: study.institute_name ?? null,
      degree: study.degree_name ?? null,
      start: study.start_date ?? null,
      end: study.end_date ?? null,
    })),
  }
}

function toExperience(employer: z.output<typeof Employer>, current: boolean): Person['experiences'][number] {
  return {
    title: employer.employee_title ?? null,
    company: employer.employer_name ?? null,
    start: employer.start_date ?? null,
    end: employer.end_date ?? null,
    current,
  }
}
