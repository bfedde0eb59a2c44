type Known = { full_name: string; domain: string; linkedin_url: string; email?: string }

/** What it is told about a person; what is not known is left out. */
export function dataOf({ full_name, domain, linkedin_url, email = '' }: Known): Record<string, string> {
  return {
    ...(full_name === '' ? {} : { full_name }),
    ...(domain === '' ? {} : { company_website: domain }),
    ...(linkedin_url === '' ? {} : { linkedin_url }),
    ...(email === '' ? {} : { email }),
  }
}
