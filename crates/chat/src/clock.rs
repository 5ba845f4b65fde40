//! `strftime_now`: the time handed in, in C's notation. Locale is C, as in Python by default.

use crate::Now;

const DAYS: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// A civil date and time of day in the proleptic Gregorian calendar.
struct Civil {
    year: i64,
    /// From 0.
    month: usize,
    day: i64,
    /// 0 is Sunday.
    weekday: usize,
    /// From 1.
    day_of_year: i64,
    second_of_day: i64,
}

impl Civil {
    fn of(now: Now) -> Civil {
        let local = now.unix_seconds.saturating_add(i64::from(now.utc_offset_seconds));
        let (days, second_of_day) = (local.div_euclid(86_400), local.rem_euclid(86_400));
        // Years begin in March here, so that the leap day is the last of its year; an era is the
        // 400 years (146,097 days) after which the calendar repeats. 719,468 days lie between
        // 0000-03-01 and the epoch.
        let shifted = days + 719_468;
        let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_march_year =
            day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let march_month = (5 * day_of_march_year + 2) / 153;
        let month = ((march_month + 2) % 12) as usize;
        let year = era * 400 + year_of_era + i64::from(month < 2);
        let leap =
            year.rem_euclid(4) == 0 && (year.rem_euclid(100) != 0 || year.rem_euclid(400) == 0);
        let day_of_year = if month < 2 {
            day_of_march_year - 306 + 1
        } else {
            day_of_march_year + 59 + i64::from(leap) + 1
        };
        Civil {
            year,
            month,
            day: day_of_march_year - (153 * march_month + 2) / 5 + 1,
            weekday: (days + 4).rem_euclid(7) as usize,
            day_of_year,
            second_of_day,
        }
    }
}

/// Formats `now`. Directives that [`field`] does not know stay as they are.
pub(crate) fn strftime(now: Now, format: &str) -> String {
    let civil = Civil::of(now);
    let mut out = String::new();
    let mut rest = format.chars();
    while let Some(c) = rest.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let mut directive = rest.next();
        let unpadded = directive == Some('-');
        if unpadded {
            directive = rest.next();
        }
        let Some(directive) = directive else {
            out.push('%');
            break;
        };
        field(&civil, now, directive, unpadded, &mut out);
    }
    out
}

fn field(civil: &Civil, now: Now, directive: char, unpadded: bool, out: &mut String) {
    let (hour, minute, second) =
        (civil.second_of_day / 3600, civil.second_of_day / 60 % 60, civil.second_of_day % 60);
    let number = |value: i64, width: usize| {
        let width = if unpadded { 0 } else { width };
        format!("{value:0width$}")
    };
    let again = |format: &str| strftime(now, format);
    let text = match directive {
        'Y' => civil.year.to_string(),
        'y' => number(civil.year.rem_euclid(100), 2),
        'm' => number(civil.month as i64 + 1, 2),
        'd' => number(civil.day, 2),
        'e' if unpadded => civil.day.to_string(),
        'e' => format!("{:>2}", civil.day),
        'j' => number(civil.day_of_year, 3),
        'H' => number(hour, 2),
        'I' => number((hour + 11) % 12 + 1, 2),
        'M' => number(minute, 2),
        'S' => number(second, 2),
        'f' => "000000".into(),
        'p' => if hour < 12 { "AM" } else { "PM" }.into(),
        'A' => DAYS[civil.weekday].into(),
        'a' => DAYS[civil.weekday][..3].into(),
        'B' => MONTHS[civil.month].into(),
        'b' | 'h' => MONTHS[civil.month][..3].into(),
        'w' => civil.weekday.to_string(),
        'u' => ((civil.weekday + 6) % 7 + 1).to_string(),
        's' => now.unix_seconds.to_string(),
        'z' => offset(now),
        'Z' => "UTC".to_owned() + &offset_name(now),
        'D' | 'x' => again("%m/%d/%y"),
        'F' => again("%Y-%m-%d"),
        'T' | 'X' => again("%H:%M:%S"),
        'R' => again("%H:%M"),
        'c' => again("%a %b %e %H:%M:%S %Y"),
        'n' => "\n".into(),
        't' => "\t".into(),
        '%' => "%".into(),
        other => format!("%{}{other}", if unpadded { "-" } else { "" }),
    };
    out.push_str(&text);
}

/// `+0130`.
fn offset(now: Now) -> String {
    let minutes = now.utc_offset_seconds.unsigned_abs() / 60;
    let sign = if now.utc_offset_seconds < 0 { '-' } else { '+' };
    format!("{sign}{:02}{:02}", minutes / 60, minutes % 60)
}

/// What follows `UTC` in the name of a fixed offset: nothing, or `+01:30`.
fn offset_name(now: Now) -> String {
    let mut name = offset(now);
    if now.utc_offset_seconds == 0 {
        return String::new();
    }
    name.insert(3, ':');
    name
}

#[cfg(test)]
mod tests;
