# Builds a depot of parcels (objects of hashes, arrays and strings), then walks it with closures: what a report
# script does. Its numbers come from a generator of its own, so the work is the same in every run.
use strict;
use warnings;

package Parcel;

sub new {
    my ($class, %of) = @_;
    return bless { id => $of{id}, town => $of{town}, weight => $of{weight}, stops => [] }, $class;
}

sub visit { my ($self, $stop) = @_; push @{ $self->{stops} }, { place => $stop, after => scalar @{ $self->{stops} } }; return $self }
sub route { my ($self) = @_; return join ' > ', map { $_->{place} } @{ $self->{stops} } }

package main;

my $state = 1;
sub below { my ($limit) = @_; $state = ($state * 1103515245 + 12345) & 0x7fffffff; return ($state >> 8) % $limit }

my $count = shift // 60000;
my @towns = map { "town-" . $_ . ("x" x ($_ % 11)) } 0 .. 299;
my %depot;
for my $id (1 .. $count) {
    my $parcel = Parcel->new(id => "P$id", town => $towns[below(300)], weight => 1 + below(4000));
    $parcel->visit($towns[below(300)]) for 0 .. below(5);
    push @{ $depot{ $parcel->{town} } }, $parcel;
}

my @rules = map { my $least = $_ * 800; sub { $_[0]{weight} >= $least } } 0 .. 4;
my %report;
for my $rule (0 .. $#rules) {
    for my $town (sort keys %depot) {
        my @chosen = grep { $rules[$rule]->($_) } @{ $depot{$town} };
        $report{$town}{$rule} = { parcels => scalar @chosen, routes => [map { $_->route } @chosen] };
    }
}

my $letters = 0;
for my $town (sort keys %report) {
    my %seen;
    $seen{$_}++ for map { split / > /, $_ } map { @{ $_->{routes} } } values %{ $report{$town} };
    $letters += length($_) * $seen{$_} for keys %seen;
}
print "$letters\n";
