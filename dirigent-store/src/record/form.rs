//! The form of other crates' values in a file. Serde derives the rest from these definitions.

mod name;
mod scalar;

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub(crate) use scalar::{digits, whole};

/// A value with a form in a file.
pub(crate) trait Form: Sized {
    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error>;

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error>;
}

/// Serde calls this through `with`.
pub(crate) fn serialize<T: Form, S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
    value.write(to)
}

/// Serde calls this through `with`.
pub(crate) fn deserialize<'de, T: Form, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    T::read(from)
}

/// Returns true if a field may be absent from a file, because reading it back gives the same value.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Gives structs of other crates their form. The fields are in the order of the file. A field with `[opt]` is absent if
/// it has its default value, and a number with `=` is written as digits. A struct without a `for` is one of ours.
macro_rules! structs {
    ($(
        $(#[$on_type:meta])*
        $vis:vis struct $file:ident $(<$life:lifetime>)? $(for $type:ident as $name:literal)? {
            $($(#[$on_field:meta])* $([$opt:ident])? $field:ident $(: $of:ty)? $(= $digits:ty)?,)+
        }
    )+) => {$(
        $(#[$on_type])*
        #[derive(serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        $(#[serde(remote = $name)])?
        $vis struct $file $(<$life>)? {
            $(
                $(#[$on_field])*
                $(
                    #[doc = stringify!($opt)]
                    #[serde(default, skip_serializing_if = "crate::record::form::is_default")]
                )?
                $(#[serde(with = "crate::record::form")] $vis $field: $of,)?
                $(#[serde(with = "crate::record::form::digits")] $vis $field: $digits,)?
            )+
        }

        $(impl $crate::record::form::Form for $type {
            fn write<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                $file::serialize(self, to)
            }

            fn read<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                $file::deserialize(from)
            }
        })?
    )+};
}

/// Gives enumerations of other crates their form. A variant with `[field: type]` has that field, and in the file it is
/// its value alone. An enumeration marked `[newer]` can have values that this crate does not know, and these cannot be
/// written.
macro_rules! enums {
    ($(
        enum $file:ident for $type:ident $([$newer:ident])? {
            $(
                $variant:ident
                $({$($(#[$on_field:meta])* $([$opt:ident])? $field:ident: $of:ty,)+})?
                $(($inner:ident: $inner_of:ty))?
                $([$only:ident: $only_of:ty])?,
            )+
        }
    )+) => {$(
        #[derive(serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
        enum $file {
            $($variant
                $({$(
                    $(#[$on_field])*
                    $(
                        #[doc = stringify!($opt)]
                        #[serde(default, skip_serializing_if = "crate::record::form::is_default")]
                    )?
                    #[serde(with = "crate::record::form")]
                    $field: $of,
                )+})?
                $((#[serde(with = "crate::record::form")] $inner_of))?
                $((#[serde(with = "crate::record::form")] $only_of))?,
            )+
        }

        impl $crate::record::form::Form for $type {
            fn write<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                let file = match self {
                    $($type::$variant $({$($field),+})? $(($inner))? $({$only})? => {
                        $file::$variant
                            $({$($field: Clone::clone($field)),+})?
                            $((Clone::clone($inner)))?
                            $((Clone::clone($only)))?
                    })+
                    $(_ => {
                        let $newer = "a value is newer than this store";
                        return Err(serde::ser::Error::custom($newer));
                    })?
                };
                serde::Serialize::serialize(&file, to)
            }

            fn read<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                Ok(match <$file as serde::Deserialize>::deserialize(from)? {
                    $($file::$variant $({$($field),+})? $(($inner))? $(($only))? => {
                        $type::$variant $({$($field),+})? $(($inner))? $({$only})?
                    })+
                })
            }
        }
    )+};
}

pub(crate) use {enums, structs};

/// A value inside another one, in the form that serde asks for.
struct Formed<T>(T);

impl<T: Form> Serialize for Formed<&T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.write(to)
    }
}

impl<'de, T: Form> Deserialize<'de> for Formed<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        T::read(from).map(Self)
    }
}

impl<T: Form> Form for Option<T> {
    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.as_ref().map(Formed).serialize(to)
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(from)?.map(|Formed(value)| value))
    }
}

impl<T: Form> Form for Vec<T> {
    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.iter().map(Formed))
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Vec::deserialize(from)?.into_iter().map(|Formed(value)| value).collect())
    }
}

impl<T: Form> Form for [T; 2] {
    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.each_ref().map(Formed).serialize(to)
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(<[Formed<T>; 2]>::deserialize(from)?.map(|Formed(value)| value))
    }
}

impl<A: Form, B: Form> Form for (A, B) {
    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        (Formed(&self.0), Formed(&self.1)).serialize(to)
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let (Formed(first), Formed(second)) = Deserialize::deserialize(from)?;
        Ok((first, second))
    }
}

/// A type that only holds a value has the form of that value.
macro_rules! holders {
    ($($holder:ty, $new:path;)+) => {$(
        impl<T: Form + Clone> Form for $holder {
            fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                T::write(self, to)
            }

            fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                T::read(from).map($new)
            }
        }
    )+};
}

holders! {
    Box<T>, Box::new;
    Arc<T>, Arc::new;
    Cow<'_, T>, Cow::Owned;
}
